"""Results of trials: only valid events count, and the first one of each edit."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from greenloop.records import Failure, TestOutcome
from greenloop.records import TestRun as PytestRun
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.trials.lanes import Lane, run_lane
from greenloop.sandbox.work.trials.runs import ModuleEdit, run_mutants_separately

KEY = "k"
END = {"event": "end", "exit_status": 0}


def mutant(number: Any, outcome: Any, **more: Any) -> dict[str, Any]:
    return {"event": "mutant", "mutant": number, "outcome": outcome, **more}


def start_event(number: Any) -> dict[str, Any]:
    return {"event": "started", "mutant": number}


def results_of(count: int, *runs: Sequence[dict[str, Any]], budget_s: float = 60) -> Lane:
    """Return the result of these runs, one after the other."""
    waiting = list(runs)

    def run(numbers: Sequence[int], left_s: float) -> tuple[ProcessResult, str]:
        lines = "".join(f"{KEY} {json.dumps(event)}\n" for event in waiting.pop(0))
        return ProcessResult("finished", 0, b"", lines.encode(), 0.1), KEY

    found = run_lane(run, range(count), budget_s)
    assert waiting == []
    return found


def outcomes(found: Lane) -> dict[int, str]:
    return {number: run.outcome for number, run in sorted(found.known.items())}


def test_complete_run() -> None:
    events = [mutant(1, "survived"), mutant(0, "killed", test="t.py::a"), END]
    found = results_of(2, events)
    assert outcomes(found) == {0: "killed", 1: "survived"}
    assert (found.known[0].test, found.error) == ("t.py::a", "")


def test_invalid_outcomes_are_errors() -> None:
    events = [mutant(0, "perfect"), mutant(1, ["killed"]), mutant(2, "killed", test=[1]), END]
    found = results_of(3, events)
    assert outcomes(found) == {0: "error", 1: "error", 2: "killed"}
    assert found.known[2].test == ""


def test_first_outcome_counts_and_unknown_edits_do_not() -> None:
    events = [mutant(0, "survived"), mutant(0, "killed"), mutant(7, "killed")]
    events += [mutant(True, "killed"), mutant("1", "killed"), END]
    assert outcomes(results_of(2, events)) == {0: "survived"}


def test_an_edit_that_ends_two_runs_has_crashed() -> None:
    found = results_of(
        3,
        [start_event(0), mutant(0, "killed"), start_event(1)],
        [start_event(1)],
        [start_event(2), mutant(2, "survived"), END],
    )
    assert outcomes(found) == {0: "killed", 1: "crashed", 2: "survived"}
    assert found.error == ""


def test_an_edit_in_progress_when_a_run_breaks_off_is_tried_again() -> None:
    found = results_of(
        2, [start_event(0)], [start_event(0), mutant(0, "killed"), mutant(1, "killed"), END]
    )
    assert outcomes(found) == {0: "killed", 1: "killed"}


def test_run_that_breaks_off_before_any_edit_gives_no_outcome() -> None:
    found = results_of(2, [])
    assert outcomes(found) == {}
    assert "broke off" in found.error


def test_trouble_is_the_reason() -> None:
    found = results_of(2, [{"event": "trouble", "what": "the tests cannot be collected"}, END])
    assert found.error == "the tests cannot be collected"


def test_invalid_starts_are_ignored() -> None:
    found = results_of(1, [start_event(wrong) for wrong in (None, [0], True, 7)])
    assert outcomes(found) == {}


def test_nothing_is_run_without_time() -> None:
    assert outcomes(results_of(2, budget_s=0)) == {}


def test_tests_that_cost_the_whole_budget_leave_half_of_it_for_mutants() -> None:
    first = PytestRun(
        ending="finished",
        exit_status=0,
        tests=(TestOutcome(id="t.py::a", outcome="passed"),),
        cpu_s=60.0,
    )
    edits = [ModuleEdit(0, 1, text, (0, 1, 1, ""), (1, 1)) for text in "23"]
    found = run_mutants_separately(lambda code, **_: first, "1", edits, budget_s=40.0)
    assert "survived" in [item.outcome for item in found.runs]


@pytest.mark.parametrize("is_red", [False, True])
def test_run_of_a_mutant_ends_with_the_first_failure_where_the_code_has_none(is_red: bool) -> None:
    tests = (TestOutcome(id="a", outcome="passed"), TestOutcome(id="b", outcome="skipped"))
    failures = (Failure(test="c", phase="call", exception="E", message=""),) if is_red else ()
    first = PytestRun(ending="finished", exit_status=0, tests=tests, failures=failures)
    seen: list[dict[str, Any]] = []

    def run(code: str, **options: Any) -> PytestRun:
        seen.append(options)
        return first

    run_mutants_separately(run, "1", [ModuleEdit(0, 1, "2", (0, 1, 1, ""), (1, 1))], budget_s=40.0)
    assert [item.get("stops_early", False) for item in seen] == [False, not is_red]
