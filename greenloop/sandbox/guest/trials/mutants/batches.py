"""Many mutants in one fork, one after the other: a fork for each is most of what a mutant costs.

What one leaves behind may reach the next, so only this is believed: a test is red on the mutant,
green on the module itself right behind it, and red on the mutant again. Everything else (nothing
noticed it, its process ended, it took too long, or those three disagree) is open, and is tried in
a fork of its own by who asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..collected_session import CollectedSession
from ..fork_messages import StepLimits, StepReporter
from ..fork_pool import ForkPool, ForkResult, ForkTask
from .hot_swap import LoadedFunctions, OriginalModule

_BATCH_SIZE = 16  # the start of a fork is a tenth of their cost by then
_MIN_CPU_SECONDS, _CPU_FACTOR = 0.03, 5  # who is slower gets a second try alone, with more time
_COLLECTION_STEP = -1
NEEDS_IMPORT, KILLED, UNDECIDED, UNSTABLE = "again", "killed", "open", "doubt"


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
    """`killed`: at which test; `again`: it needs a fresh import; the others are open.

    `doubt`: a test that was red on a mutant was not green on the module behind it.
    """

    killed: dict[int, int] = field(default_factory=dict)
    needs_import: list[int] = field(default_factory=list)
    is_unstable: bool = False


class MutantBatches:
    """For one collection of tests. `costs` are what each test needs on the module, in CPU seconds."""

    def __init__(
        self,
        session: CollectedSession,
        original: OriginalModule,
        loaded_functions: LoadedFunctions,
        costs: Sequence[tuple[float, float]],
    ) -> None:
        self._session, self._original, self._loaded_functions = session, original, loaded_functions
        self._costs = costs
        self._stride = len(costs) + 1

    def try_all(
        self,
        mutants: Sequence[BatchMutant],
        fork_pool: ForkPool,
        on_start: Callable[[int], None],
        clean_slot: Callable[[int], None],
    ) -> BatchResult:
        """`begin` hears of each mutant before its process starts."""
        found = BatchResult()
        batches = [mutants[at : at + _BATCH_SIZE] for at in range(0, len(mutants), _BATCH_SIZE)]
        while batches:
            rests: list[Sequence[BatchMutant]] = []
            tasks = {place: self._create_task(place, batch) for place, batch in enumerate(batches)}

            def hear(
                task: ForkTask,
                result: ForkResult,
                batches: Sequence[Sequence[BatchMutant]] = batches,
                rests: list[Sequence[BatchMutant]] = rests,
            ) -> None:
                rests.append(self._record_result(batches[task.number], result, found))

            def start(task: ForkTask, batches: Sequence[Sequence[BatchMutant]] = batches) -> None:
                for member in batches[task.number]:
                    on_start(member.number)

            fork_pool.run(tasks.values(), hear, start, clean_slot)
            batches = [rest for rest in rests if rest]
        return found

    def _create_task(self, place: int, batch: Sequence[BatchMutant]) -> ForkTask:
        def work(report: StepReporter) -> str:
            for at, member in enumerate(batch):
                base = at * self._stride + 1
                report(base + _COLLECTION_STEP)
                said = self._try_mutant(member, lambda test, base=base: report(base + test))  # type: ignore[misc]
                report.note(f"{at} {said}")
                if said == UNSTABLE:
                    break
            return ""

        return ForkTask(place, work, self._step_limits)

    def _try_mutant(self, member: BatchMutant, report_step: Callable[[int], None]) -> str:
        """In a fork: the mutant put in, tried, and taken out again."""
        changed = self._original.compile_changed_functions(member.splice)
        if not self._loaded_functions.replace(changed):
            return NEEDS_IMPORT
        failing = self._session.run_until_failure(member.test_numbers, report_step)
        self._session.tear_down()
        self._loaded_functions.restore()
        if failing is None:
            return UNDECIDED
        if self._session.run_and_check_failed(failing):
            return UNSTABLE
        self._loaded_functions.replace(changed)
        red = self._session.run_and_check_failed(failing)
        self._loaded_functions.restore()
        return f"{KILLED} {failing}" if red else UNSTABLE

    def _step_limits(self, step: int) -> StepLimits:
        test = step % self._stride - 1
        cpu_s, wall_s = self._costs[test] if 0 <= test < len(self._costs) else (0.0, 0.0)
        return StepLimits(_MIN_CPU_SECONDS + _CPU_FACTOR * cpu_s, 1.0 + 5 * wall_s)

    def _record_result(
        self, batch: Sequence[BatchMutant], result: ForkResult, batch_result: BatchResult
    ) -> Sequence[BatchMutant]:
        """Takes in what was found; the members that it did not come to.

        The notes come out of a process of foreign code: what makes no sense is left out.
        """
        for at, said in _parse_notes(result.notes, len(batch)).items():
            word, _, test = said.partition(" ")
            if word == KILLED and test.isdigit() and int(test) < len(self._costs):
                batch_result.killed.setdefault(batch[at].number, int(test))
            elif word == NEEDS_IMPORT:
                batch_result.needs_import.append(batch[at].number)
            elif word == UNSTABLE:
                batch_result.is_unstable = True
        if result.ending in ("not_run", "error"):
            return ()
        return batch[max(0, result.step) // self._stride + 1 :]


def _parse_notes(notes: Sequence[str], count: int) -> Mapping[int, str]:
    pairs = (note.partition(" ")[::2] for note in notes)
    return {int(at): said for at, said in pairs if at.isdigit() and int(at) < count}
