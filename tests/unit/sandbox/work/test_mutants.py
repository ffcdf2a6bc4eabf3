"""What is believed of a run of mutants: only what has its form, and of each mutant only once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.mutants import ModuleEdit, MutantRuns, run_all_mutants

KEY = "k"
SPLICE = ModuleEdit(0, 1, "x", (0, 1, 1, ""), (1, 1))
HEALTHY = {"event": "healthy", "tests": []}
END = {"event": "end", "exit_status": 0}


def mutant(number: Any, outcome: Any, **more: Any) -> dict[str, Any]:
    return {"event": "mutant", "mutant": number, "outcome": outcome, **more}


def begun(number: int) -> dict[str, Any]:
    return {"event": "started", "mutant": number}


def heard(count: int, *runs: Sequence[dict[str, Any]], budget_s: float = 60) -> MutantRuns:
    """What comes of these runs, one after the other; `asked` numbers are in their order."""
    waiting = list(runs)

    def run(numbers: Sequence[int], left_s: float, together: bool) -> tuple[ProcessResult, str]:
        assert together == (len(waiting) == len(runs))  # only until one has broken off
        lines = "".join(f"{KEY} {json.dumps(event)}\n" for event in waiting.pop(0))
        return ProcessResult("finished", 0, b"", lines.encode(), 0.1), KEY

    found = run_all_mutants([SPLICE] * count, run, budget_s)
    assert waiting == []
    return found


def outcomes(found: MutantRuns) -> list[str]:
    return [run.outcome for run in found.runs]


def test_a_whole_run() -> None:
    said = [HEALTHY, mutant(1, "survived"), mutant(0, "killed", test="t.py::a"), END]
    found = heard(2, said)
    assert outcomes(found) == ["killed", "survived"]
    assert (found.runs[0].test, found.error) == ("t.py::a", "")


def test_what_makes_no_sense_is_an_error_and_no_verdict() -> None:
    said = [
        HEALTHY,
        mutant(0, "perfect"),
        mutant(1, ["killed"]),
        mutant(2, "killed", test=[1]),
        END,
    ]
    found = heard(3, said)
    assert outcomes(found) == ["error", "error", "killed"]
    assert found.runs[2].test == ""


def test_the_first_word_counts_and_strangers_do_not() -> None:
    said = [HEALTHY, mutant(0, "survived"), mutant(0, "killed"), mutant(7, "killed")]
    said += [mutant(True, "killed"), mutant("1", "killed"), END]
    assert outcomes(heard(2, said)) == ["survived", "not_run"]


def test_who_ends_the_run_is_found_by_being_tried_alone() -> None:
    found = heard(
        3,
        [HEALTHY, begun(0), begun(1), begun(2)],
        [HEALTHY, begun(0), begun(1)],
        [HEALTHY, begun(2), mutant(2, "survived"), END],
        [HEALTHY, begun(0), mutant(0, "killed"), END],
        [HEALTHY, begun(1)],
    )
    assert outcomes(found) == ["killed", "crashed", "survived"]
    assert found.error == ""


def test_a_run_that_breaks_off_before_any_mutant_is_no_verdict() -> None:
    found = heard(2, [HEALTHY])
    assert outcomes(found) == ["not_run", "not_run"]
    assert "broke off" in found.error


def test_without_time_nothing_is_run() -> None:
    assert outcomes(heard(2, budget_s=0)) == ["not_run", "not_run"]
