"""Batches of mutants: many tried in one fork, since forking is most of a mutant's cost.

What one mutant leaves behind may affect the next. So a kill counts only if a test fails on the
mutant, passes on the original module right after it, and fails on the mutant again. All other
mutants (no test failed, the process ended, the time was over, or the three runs disagree) are
undecided, and the caller tries them in forks of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from typing import Any

from ..context import TrialContext
from ..fork_pool import ForkResult, ForkTask
from ..loop_counter import MIN_LIMIT
from ..outcomes import NEEDS_IMPORT
from ..time_limits import StepLimits, StepReporter
from .swaps import KILLED, LATE, UNDECIDED, UNSTABLE, Swap, confirm_failure

BATCH_SIZE = 32  # forking is then a twentieth of the cost
_MIN_CPU_SECONDS, _CPU_FACTOR = 0.03, 5  # slower mutants are tried again alone, with more time
_COLLECTION_STEP = -1


@dataclass(frozen=True)
class BatchMutant:
    """A mutant: its splice and the tests that reach it."""

    splice: dict[str, Any]
    test_numbers: Sequence[int]

    @property
    def number(self) -> int:
        return int(self.splice["number"])


@dataclass
class BatchResult:
    """`killed` is the test by mutant; mutants in neither field are undecided.

    `late`: mutants on which their test makes far more iterations than on the original. `is_unstable`: a test that failed on a mutant did not pass on the original right after it.
    """

    killed: dict[int, int] = field(default_factory=dict)
    late: set[int] = field(default_factory=set)
    needs_import: list[int] = field(default_factory=list)
    is_unstable: bool = False


class MutantBatches:
    """Batches for one collection of tests."""

    def __init__(
        self,
        context: TrialContext,
        swap: Swap,
        costs: Sequence[tuple[float, float]],
    ) -> None:
        """`costs` are the (CPU, elapsed) seconds of each test on the original module."""
        self._session, self._fork_pool, self._swap = context.session, context.fork_pool, swap
        self._loops = context.loop_counter
        self._costs, self._stride = costs, len(costs) + 1
        # To collect takes at least as long as to execute the module again.
        self._swap_s = context.collect_s if swap.is_import else 0.0
        self.collection = len(costs)  # instead of the number of a test

    def try_all(
        self,
        mutants: Sequence[BatchMutant],
        on_start: Callable[[Sequence[int]], None],
        max_attempts: int = BATCH_SIZE,
    ) -> BatchResult:
        """Try all mutants; `on_start` is called with those of a fork before it starts.

        A batch that breaks off continues in another fork, in at most `max_attempts` in all; what
        the last one does not get to is undecided.
        """
        found, batches = BatchResult(), self._divide(mutants)
        attempts = [1] * len(batches)

        def start(task: ForkTask) -> None:
            on_start([mutant.number for mutant in batches[task.number]])

        def receive(task: ForkTask, result: ForkResult) -> ForkTask | None:
            rest = self._record_result(batches[task.number], result, found)
            batches[task.number] = rest
            attempts[task.number] += 1
            is_last = not rest or attempts[task.number] > max_attempts
            return None if is_last else self._create_task(task.number, rest)

        self._fork_pool.run(list(starmap(self._create_task, enumerate(batches))), receive, start)
        return found

    def _divide(self, mutants: Sequence[BatchMutant]) -> list[Sequence[BatchMutant]]:
        """Return batches of about one size, as many for each process."""
        width = self._fork_pool.max_forks
        count = max(1, -(-len(mutants) // (BATCH_SIZE * width))) * width
        size = max(1, -(-len(mutants) // count))
        return [mutants[at : at + size] for at in range(0, len(mutants), size)]

    def _create_task(self, number: int, batch: Sequence[BatchMutant]) -> ForkTask:
        def work(report: StepReporter) -> str:
            for at, mutant in enumerate(batch):
                base = at * self._stride + 1
                report(base + _COLLECTION_STEP)
                outcome = self._try_mutant(mutant, lambda test, base=base: report(base + test))  # type: ignore[misc]
                report.note(f"{at} {outcome}")
                if outcome.startswith(UNSTABLE):
                    break
            return ""

        return ForkTask(number, work, self._step_limits)

    def _try_mutant(self, mutant: BatchMutant, report_step: Callable[[int], None]) -> str:
        """In a fork: apply the mutant and run its tests."""
        apply = self._swap.prepare(mutant.splice)
        if not apply():
            fails_again = self._swap.is_import and not apply()  # the original was executed between
            return f"{KILLED} {self.collection}" if fails_again else NEEDS_IMPORT

        def start_test(test: int) -> None:
            self._loops.reset(MIN_LIMIT)
            report_step(test)

        failing = self._session.run_until_failure(mutant.test_numbers, start_test)
        if failing is None:
            self._session.tear_down()
            return UNDECIDED
        report_step(failing)  # with a time limit of its own
        outcome = confirm_failure(self._session, failing, apply, self._swap, self._loops)
        return f"{outcome} {failing}"

    def _step_limits(self, step: int) -> StepLimits:
        test = step % self._stride - 1
        cpu_s, wall_s = self._costs[test] if 0 <= test < len(self._costs) else (0.0, 0.0)
        return StepLimits(
            _MIN_CPU_SECONDS + _CPU_FACTOR * cpu_s + self._swap_s, 1.0 + 5 * wall_s + self._swap_s
        )

    def _record_result(
        self, batch: Sequence[BatchMutant], result: ForkResult, batch_result: BatchResult
    ) -> Sequence[BatchMutant]:
        """Record the notes of a fork and return the mutants that it did not get to.

        The notes come from a process of untrusted code: invalid ones are ignored.
        """
        for at, outcome in _parse_notes(result.notes, len(batch)).items():
            word, _, test = outcome.partition(" ")
            if word in (KILLED, LATE) and test.isdigit() and int(test) <= self.collection:
                batch_result.killed.setdefault(batch[at].number, int(test))
                batch_result.late |= {batch[at].number} if word == LATE else set()
            elif word == NEEDS_IMPORT:
                batch_result.needs_import.append(batch[at].number)
            elif word == UNSTABLE:
                batch_result.is_unstable = True
        if result.ending in ("not_run", "error"):
            return ()
        return batch[max(0, result.step) // self._stride + 1 :]


def _parse_notes(notes: Sequence[str], count: int) -> Mapping[int, str]:
    pairs = (note.partition(" ")[::2] for note in notes)
    return {int(at): outcome for at, outcome in pairs if at.isdigit() and int(at) < count}
