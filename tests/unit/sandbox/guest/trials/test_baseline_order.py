"""Whether the tests pass in the order of trials, before edits are tried on them."""

from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.sandbox.guest.trials.baseline import Baseline
from greenloop.sandbox.guest.trials.server import SURVIVED

TEST = {"test": "a", "outcome": "passed", "cpu_s": 0.1, "lines": [1], "starts_processes": False}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"ending": "verdict", "verdict": SURVIVED}, ""),
        ({"ending": "verdict", "verdict": {"killed": "a"}}, "do not pass twice"),
        ({"ending": "not_run", "verdict": None}, ""),  # the time was over: not the tests' doing
    ],
)
def test_tests_are_refused_only_where_one_fails(answer: dict[str, Any], why: str) -> None:
    budget = SimpleNamespace(deadline=0.0, keep_half=lambda: None, is_over=lambda: False)
    job = {"budget": budget, "tests": [TEST], "is_red": False, "path": "m.py"}
    ready = {"tests": ["a"], "is_collected": True, "is_loaded": True, "has_threads": False}
    answers: list[Any] = [{**ready, "collect_s": 0.1}, {}, answer, answer]
    server: Any = SimpleNamespace(receive=lambda deadline: answers.pop(0))
    found = Baseline(job, server, BytesIO()).prepare()
    assert (why in found) if why else found == ""
