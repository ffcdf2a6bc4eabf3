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

from ..collected_session import Suite
from ..fork_messages import Bounds, Reporting
from ..fork_pool import Forks, Result, Task
from .hot_swap import Living, Original

_SIZE = 16  # the start of a fork is a tenth of their cost by then
_CPU_FLOOR_S, _CPU_TIMES = 0.03, 5  # who is slower gets a second try alone, with more time
_COLLECTION = -1
AGAIN, KILLED, OPEN, DOUBT = "again", "killed", "open", "doubt"


@dataclass(frozen=True)
class Member:
    """A mutant: its splice and the tests that reach it."""

    splice: dict[str, Any]
    chosen: Sequence[int]

    @property
    def number(self) -> int:
        return int(self.splice["number"])


@dataclass
class Found:
    """`killed`: at which test; `again`: it needs a fresh import; the others are open.

    `doubt`: a test that was red on a mutant was not green on the module behind it.
    """

    killed: dict[int, int] = field(default_factory=dict)
    again: list[int] = field(default_factory=list)
    doubt: bool = False


class Batches:
    """For one collection of tests. `costs` are what each test needs on the module, in CPU seconds."""

    def __init__(
        self, suite: Suite, original: Original, living: Living, costs: Sequence[tuple[float, float]]
    ) -> None:
        self._suite, self._original, self._living = suite, original, living
        self._costs = costs
        self._stride = len(costs) + 1

    def try_all(
        self,
        members: Sequence[Member],
        forks: Forks,
        begin: Callable[[int], None],
        clean: Callable[[int], None],
    ) -> Found:
        """`begin` hears of each mutant before its process starts."""
        found = Found()
        batches = [members[at : at + _SIZE] for at in range(0, len(members), _SIZE)]
        while batches:
            rests: list[Sequence[Member]] = []
            tasks = {place: self._task(place, batch) for place, batch in enumerate(batches)}

            def hear(
                task: Task,
                result: Result,
                batches: Sequence[Sequence[Member]] = batches,
                rests: list[Sequence[Member]] = rests,
            ) -> None:
                rests.append(self._heard(batches[task.number], result, found))

            def start(task: Task, batches: Sequence[Sequence[Member]] = batches) -> None:
                for member in batches[task.number]:
                    begin(member.number)

            forks.run(tasks.values(), hear, start, clean)
            batches = [rest for rest in rests if rest]
        return found

    def _task(self, place: int, batch: Sequence[Member]) -> Task:
        def work(report: Reporting) -> str:
            for at, member in enumerate(batch):
                base = at * self._stride + 1
                report(base + _COLLECTION)
                said = self._tried(member, lambda test, base=base: report(base + test))  # type: ignore[misc]
                report.note(f"{at} {said}")
                if said == DOUBT:
                    break
            return ""

        return Task(place, work, self._bounds)

    def _tried(self, member: Member, report: Callable[[int], None]) -> str:
        """In a fork: the mutant put in, tried, and taken out again."""
        changed = self._original.changed(member.splice)
        if not self._living.replace(changed):
            return AGAIN
        failing = self._suite.first_failing(member.chosen, report)
        self._suite.tear_down()
        self._living.restore()
        if failing is None:
            return OPEN
        if self._suite.fails(failing):
            return DOUBT
        self._living.replace(changed)
        red = self._suite.fails(failing)
        self._living.restore()
        return f"{KILLED} {failing}" if red else DOUBT

    def _bounds(self, step: int) -> Bounds:
        test = step % self._stride - 1
        cpu_s, wall_s = self._costs[test] if 0 <= test < len(self._costs) else (0.0, 0.0)
        return Bounds(_CPU_FLOOR_S + _CPU_TIMES * cpu_s, 1.0 + 5 * wall_s)

    def _heard(self, batch: Sequence[Member], result: Result, found: Found) -> Sequence[Member]:
        """Takes in what was found; the members that it did not come to.

        The notes come out of a process of foreign code: what makes no sense is left out.
        """
        for at, said in _notes(result.notes, len(batch)).items():
            word, _, test = said.partition(" ")
            if word == KILLED and test.isdigit() and int(test) < len(self._costs):
                found.killed.setdefault(batch[at].number, int(test))
            elif word == AGAIN:
                found.again.append(batch[at].number)
            elif word == DOUBT:
                found.doubt = True
        if result.ending in ("not_run", "error"):
            return ()
        return batch[max(0, result.step) // self._stride + 1 :]


def _notes(notes: Sequence[str], count: int) -> Mapping[int, str]:
    pairs = (note.partition(" ")[::2] for note in notes)
    return {int(at): said for at, said in pairs if at.isdigit() and int(at) < count}
