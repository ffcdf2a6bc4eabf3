"""What a test reaches besides lines: processes, of which nothing is traced."""

from typing import Any

from greenloop.sandbox.guest.coverage.recorder import HitRecorder
from greenloop.sandbox.guest.protocol.framing import PROCESSES


def test_tests_are_marked_once_a_process_was_started() -> None:
    events: list[dict[str, Any]] = []
    recorder = HitRecorder("/work/", [PROCESSES], lambda kind, **item: events.append(item))
    recorder._report("a")
    recorder._flags["starts_processes"] = True  # by an audit hook
    recorder._report("b")
    recorder._report("c")
    assert events == [
        {"number": 0, "path": PROCESSES, "mask": "1"},
        {"id": "b", "sets": [0]},
        {"id": "c", "sets": [0]},
    ]
