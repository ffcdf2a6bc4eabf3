"""Results of a run that tries patches: only valid events count."""

from __future__ import annotations

import json
from typing import Any

from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.patches import PatchRuns, parse_patch_runs

WHOLE = {"event": "end"}


def results_of(*events: dict[str, Any], ending: Any = "finished") -> PatchRuns:
    result = "".join(f"key {json.dumps(item)}\n" for item in events).encode()
    return parse_patch_runs(ProcessResult(ending, 0, b"", result, 1.0), "key", 3)


def test_complete_run() -> None:
    runs = results_of({"event": "tried", "count": 3}, {"event": "passes", "patch": 2}, WHOLE)
    assert (runs.passing, runs.tried_count, runs.error) == ((2,), 3, "")


def test_invalid_events_are_ignored() -> None:
    test = {"event": "reached", "test": "t", "outcome": "passed", "lines": [1], "cpu_s": 1}
    runs = results_of(
        {"event": "passes", "patch": 3},
        {"event": "passes", "patch": True},
        {"event": "passes", "patch": 1},
        {"event": "passes", "patch": 1},
        {"event": "tried", "count": 10**9},
        {"event": "tried", "count": "many"},
        {"event": "reached"},
        test,
        {**test, "wall_s": 1e99, "outcome": "splendid"},
        {**test, "wall_s": 1e99, "lines": "x"},
        {**test, "wall_s": 1e99, "peak_bytes": -1},
        WHOLE,
    )
    assert (runs.passing, runs.tried_count) == ((1,), 3)
    assert [(item.id, item.wall_s, item.peak_bytes) for item in runs.baseline] == [("t", 86400, 0)]


def test_run_that_broke_off_keeps_its_events() -> None:
    runs = results_of({"event": "passes", "patch": 0}, ending="memory")
    assert runs.passing == (0,)
    assert "broke off (memory" in runs.error
