"""What a stream that is not UTF-8 shows."""

import codecs

from greenloop.cli.main import write_ascii


def test_signs_are_shown_in_ascii_and_other_characters_as_escapes() -> None:
    codecs.register_error("greenloop-test", write_ascii)
    shown = "○ n < 0 → n <= 0 … é 漢".encode("ascii", "greenloop-test")
    assert shown == rb"o n < 0 -> n <= 0 ... \xe9 \u6f22"
