"""Results of mutants: only valid events count, and the first one of each mutant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.mutant_runs import ModuleEdit, MutantRuns
from greenloop.sandbox.work.mutants import run_all_mutants

KEY = "k"
SPLICE = ModuleEdit(0, 1, "x", (0, 1, 1, ""), (1, 1))
HEALTHY = {"event": "healthy", "tests": []}
END = {"event": "end", "exit_status": 0}


def mutant(number: Any, outcome: Any, **more: Any) -> dict[str, Any]:
    return {"event": "mutant", "mutant": number, "outcome": outcome, **more}


def build_begin_event(number: int) -> dict[str, Any]:
    return {"event": "started", "mutants": [number]}


def results_of(count: int, *runs: Sequence[dict[str, Any]], budget_s: float = 60) -> MutantRuns:
    """Return the result of these runs, one after the other."""
    waiting = list(runs)

    def run(numbers: Sequence[int], left_s: float, is_shared: bool) -> tuple[ProcessResult, str]:
        assert is_shared == (len(waiting) == len(runs))  # only until a run has broken off
        lines = "".join(f"{KEY} {json.dumps(event)}\n" for event in waiting.pop(0))
        return ProcessResult("finished", 0, b"", lines.encode(), 0.1), KEY

    found = run_all_mutants([SPLICE] * count, run, budget_s)
    assert waiting == []
    return found


def outcomes(found: MutantRuns) -> list[str]:
    return [run.outcome for run in found.runs]


def test_complete_run() -> None:
    events = [HEALTHY, mutant(1, "survived"), mutant(0, "killed", test="t.py::a"), END]
    found = results_of(2, events)
    assert outcomes(found) == ["killed", "survived"]
    assert (found.runs[0].test, found.error) == ("t.py::a", "")


def test_invalid_outcomes_are_errors() -> None:
    events = [
        HEALTHY,
        mutant(0, "perfect"),
        mutant(1, ["killed"]),
        mutant(2, "killed", test=[1]),
        END,
    ]
    found = results_of(3, events)
    assert outcomes(found) == ["error", "error", "killed"]
    assert found.runs[2].test == ""


def test_first_outcome_counts_and_unknown_mutants_do_not() -> None:
    events = [HEALTHY, mutant(0, "survived"), mutant(0, "killed"), mutant(7, "killed")]
    events += [mutant(True, "killed"), mutant("1", "killed"), END]
    assert outcomes(results_of(2, events)) == ["survived", "not_run"]


def test_mutant_that_ends_the_run_is_found_by_running_it_alone() -> None:
    found = results_of(
        3,
        [HEALTHY, build_begin_event(0), build_begin_event(1), build_begin_event(2)],
        [HEALTHY, build_begin_event(0), build_begin_event(1)],
        [HEALTHY, build_begin_event(2), mutant(2, "survived"), END],
        [HEALTHY, build_begin_event(0), mutant(0, "killed"), END],
        [HEALTHY, build_begin_event(1)],
    )
    assert outcomes(found) == ["killed", "crashed", "survived"]
    assert found.error == ""


def test_run_that_breaks_off_before_any_mutant_gives_no_outcome() -> None:
    found = results_of(2, [HEALTHY])
    assert outcomes(found) == ["not_run", "not_run"]
    assert "broke off" in found.error


def test_invalid_starts_are_ignored() -> None:
    events = [{"event": "started", "mutants": wrong} for wrong in (0, None, [[0]], [True], [7])]
    found = results_of(1, [HEALTHY, *events])
    assert outcomes(found) == ["not_run"]


def test_nothing_is_run_without_time() -> None:
    assert outcomes(results_of(2, budget_s=0)) == ["not_run", "not_run"]
