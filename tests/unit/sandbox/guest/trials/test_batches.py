"""Mutants that share a process, where they cannot be applied."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.sandbox.guest.trials.fork_pool import ForkResult, ForkTask
from greenloop.sandbox.guest.trials.loop_counter import LoopCounter
from greenloop.sandbox.guest.trials.mutants.batches import BatchMutant, MutantBatches
from greenloop.sandbox.guest.trials.time_limits import StepReporter

TESTS = [(0.0, 0.0)] * 2


class _PoolWithoutForks:
    """Runs tasks in this process."""

    max_forks = 1

    def run(self, tasks: list[ForkTask], receive: Any, start: Any) -> None:
        for task in tasks:
            start(task)
            notes: list[str] = []
            report: Any = _Reporter(notes)
            verdict = task.function(report)
            receive(task, ForkResult("verdict", verdict, notes=tuple(notes)))


class _Reporter(StepReporter):
    def __init__(self, notes: list[str]) -> None:
        self._notes = notes

    def __call__(self, step: int) -> None:
        pass

    def note(self, text: str) -> None:
        self._notes.append(text)


class _Session:
    def run_until_failure(self, numbers: Any, on_start: Any) -> None:
        return None

    def tear_down(self) -> None:
        pass


class _Swap:
    """Applies a mutant with these results, in turn."""

    def __init__(self, is_import: bool, applied: list[bool]) -> None:
        self.is_import, self._applied = is_import, iter(applied)

    def prepare(self, splice: dict[str, Any]) -> Any:
        return lambda: next(self._applied)


@pytest.mark.parametrize(
    ("is_import", "applied", "killed", "needs_import"),
    [
        (True, [False, False], {7: len(TESTS)}, []),
        (True, [False, True], {}, [7]),  # another mutant may have caused the first failure
        (False, [False], {}, [7]),
        (True, [True], {}, []),
    ],
)
def test_only_an_import_that_fails_twice_kills(
    is_import: bool, applied: list[bool], killed: dict[int, int], needs_import: list[int]
) -> None:
    context: Any = SimpleNamespace(
        session=_Session(), fork_pool=_PoolWithoutForks(), loop_counter=LoopCounter()
    )
    swap: Any = _Swap(is_import, applied)
    batches = MutantBatches(context, swap, TESTS)
    started: list[int] = []
    found = batches.try_all([BatchMutant({"number": 7}, [0, 1])], started.extend)
    assert (found.killed, found.needs_import, started) == (killed, needs_import, [7])
    assert batches.collection == len(TESTS)
