"""Words of a text that are worth trying as inputs."""

from __future__ import annotations

from greenloop.grading.peer.seeds import read_vocabulary


def test_a_call_that_the_text_speaks_of_is_no_input() -> None:
    text = 'Write `clean(text)`; `/admin` and "n/a" stay, `app.shop(x, y)` calls it.'
    assert read_vocabulary(text, "", []).words == ("/admin", "n/a")
