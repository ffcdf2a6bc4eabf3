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
        session=_Session(),
        fork_pool=_PoolWithoutForks(),
        loop_counter=LoopCounter(),
        collect_s=0.0,
    )
    swap: Any = _Swap(is_import, applied)
    batches = MutantBatches(context, swap, TESTS)
    started: list[int] = []
    found = batches.try_all([BatchMutant({"number": 7}, [0, 1])], started.extend)
    assert (found.killed, found.needs_import, started) == (killed, needs_import, [7])
    assert batches.collection == len(TESTS)


@pytest.mark.parametrize(("is_import", "added_s"), [(False, 0.0), (True, 2.0)])
def test_steps_in_which_the_module_is_executed_again_have_the_time_of_a_collection(
    is_import: bool, added_s: float
) -> None:
    limits: list[float] = []

    class _LimitsOnly(_PoolWithoutForks):
        def run(self, tasks: list[ForkTask], receive: Any, start: Any) -> None:
            limits.extend(tasks[0].step_limits(step).cpu_s for step in range(len(TESTS)))

    for collect_s in (0.0, 2.0):
        context: Any = SimpleNamespace(
            session=None, fork_pool=_LimitsOnly(), loop_counter=None, collect_s=collect_s
        )
        swap: Any = _Swap(is_import, [])
        MutantBatches(context, swap, TESTS).try_all([BatchMutant({"number": 7}, [0])], print)
    assert limits[len(TESTS) :] == [item + added_s for item in limits[: len(TESTS)]]
