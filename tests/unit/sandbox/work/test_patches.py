"""Results of a run that measures tests or tries patches: only valid events count."""

import json
from typing import Any

from greenloop.dependencies import InstalledPackages
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.trials.patches import (
    BaselineResult,
    PatchRuns,
    PatchTrialPlan,
    measure_tests,
    run_patches,
)
from greenloop.sandbox.work.trials.runs import ModuleEdit

END = {"event": "end"}
EDIT = ModuleEdit(0, 1, "x", (0, 1, 1, ""), (1, 1))
TEST = {"event": "measured", "test": "t", "outcome": "passed", "lines": [1], "cpu_s": 1}


class Reporting:
    """A sandbox in which every job reports these events."""

    place_trial = Sandbox.place_trial

    packages, limits = InstalledPackages(), ResourceLimits()
    can_fork, has_separate_runs = True, False

    def __init__(self, events: tuple[dict[str, Any], ...], ending: Any = "finished") -> None:
        self._events, self._ending = events, ending

    def run(self, job: Job) -> ProcessResult:
        data = "".join(f"{job.key} {json.dumps(item)}\n" for item in self._events).encode()
        return ProcessResult(self._ending, 0, b"", data, 1.0)


def patches_of(*events: dict[str, Any], ending: Any = "finished") -> PatchRuns:
    sandbox: Any = Reporting(events, ending)
    plan = PatchTrialPlan((), (1.0, 2.0, 3.0), 2, 0.5)
    return run_patches(sandbox, "", [], [EDIT] * 3, module="m", plan=plan, budget_s=9)


def baseline_of(*events: dict[str, Any]) -> tuple[BaselineResult, ...]:
    sandbox: Any = Reporting((*events, END))
    return measure_tests(sandbox, "", [], module="m", max_cpu_s=1, budget_s=9).tests


def patch(number: int, outcome: str) -> dict[str, Any]:
    return {"event": "mutant", "mutant": number, "outcome": outcome}


def test_complete_run() -> None:
    runs = patches_of(patch(0, "killed"), patch(1, "timeout"), patch(2, "survived"), END)
    assert (runs.passing, runs.tried_count, runs.error) == ((2,), 3, "")


def test_a_run_out_of_time_has_tried_less() -> None:
    runs = patches_of(patch(0, "killed"), patch(1, "not_run"), END)
    assert (runs.passing, runs.tried_count, runs.error) == ((), 1, "")


def test_run_that_broke_off_keeps_its_events() -> None:
    runs = patches_of(patch(0, "survived"), ending="memory")
    assert (runs.passing, runs.error) == ((0,), "")
    assert "broke off (memory" in patches_of(patch(0, "killed"), ending="memory").error


def test_invalid_measurements_are_ignored() -> None:
    found = baseline_of(
        {"event": "measured"},
        TEST,
        {**TEST, "wall_s": 1e99, "outcome": "splendid"},
        {**TEST, "wall_s": 1e99, "lines": "x"},
        {**TEST, "wall_s": 1e99, "peak_bytes": -1},
    )
    assert [(item.test, item.wall_s, item.peak_bytes) for item in found] == [("t", 86400, 0)]


def test_nothing_is_measured_in_trouble() -> None:
    measured = {**TEST, "wall_s": 1}
    assert len(baseline_of(measured)) == 1
    assert baseline_of(measured, {"event": "trouble", "what": "time"}) == ()
