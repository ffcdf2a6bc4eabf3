"""Results that depend on the hashes of strings are reproducible."""

from __future__ import annotations

from greenloop.sandbox import Sandbox
from tests.integration.sandbox.conftest import make_sandbox

CODE = "def f():\n    return hash('greenloop')\n"


def test_hash_seed_is_the_same_in_every_process(box: Sandbox) -> None:
    with make_sandbox(box.info.backend) as another:
        answers = [item.evaluate_calls(CODE, "solution", ["f()"]).events for item in (box, another)]
    assert answers[0] == answers[1]
    (first,) = answers[0]
    assert first is not None
    assert "value" in first
