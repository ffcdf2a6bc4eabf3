"""Two programs that are given the same inputs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from greenloop.grading.peer.answers import Names
from greenloop.grading.peer.growth import cut_arguments, is_deep
from greenloop.grading.peer.inputs import InputBuilder
from greenloop.grading.peer.outcomes import Outcome, judge
from greenloop.grading.peer.records import Comparison
from greenloop.grading.peer.reduction import reduce_differences
from greenloop.grading.peer.runs import NOT_RUN, Input, Program

_BATCH, _ENOUGH, _MIN_BATCH, _MAX_SLOWER, _MAX_PROBLEM = 450, 450, 100, 3, 300
_LARGE_S = 0.5
_MAX_GROWTH = 2.25**6  # of the cost, where the size grows by 2.25


def _cut(item: Input) -> Input | None:
    """Return an input of two thirds the size."""
    node = cut_arguments(item.node)
    return replace(item, node=node) if node else None


@dataclass
class Pair:
    """Two programs, and the outcomes of the inputs that both were given."""

    code: Program
    peer: Program
    names: Names
    deadline: float = 0.0  # no input is begun after it
    tried: int = 0
    outcomes: list[Outcome] = field(default_factory=list)

    def ask(self, inputs: Sequence[Input]) -> list[Outcome]:
        """Give inputs to the peer, and those that it allows to the code; each has half of the time."""
        answers = self.peer.run(inputs, self._seconds_left / 2)
        self.tried += sum(item.ending != NOT_RUN for item in answers)
        allowed = [
            (item, answer)
            for item, answer in zip(inputs, answers, strict=True)
            if answer.is_allowed and not answer.is_late
        ]
        mine = iter(self.code.run([item for item, _ in allowed], self._seconds_left))
        return [judge(item, next(mine), answer, self.names) for item, answer in allowed]

    def without_precondition(self, for_s: float) -> Pair:
        """Return the programs for further inputs: what a test asserts of a call needs no permission."""
        peer = replace(self.peer, inputs="")
        return Pair(self.code, peer, self.names, time.monotonic() + for_s)

    @property
    def _seconds_left(self) -> float:
        return self.deadline - time.monotonic()

    def run_all(self, builder: InputBuilder) -> None:
        """Compare on a first batch of inputs, then on more until enough were compared."""
        inputs, missing = builder.build(), _BATCH
        while missing > 0 and (batch := list(islice(inputs, max(missing, _MIN_BATCH)))):
            found = self.ask(batch)
            self.outcomes += found
            builder.learn(len(batch), [item.item for item in found if item.agrees is not None])
            if self._seconds_left < 0 or self.is_interrupted:
                return
            missing = _ENOUGH - sum(item.agrees is not None for item in self.outcomes)
        self._run_large(builder.enlarge())

    def _run_large(self, inputs: Sequence[Input]) -> None:
        """Compare on integers that may end a process, which then says nothing."""
        programs = replace(self.code, errors=[]), replace(self.peer, errors=[])
        pair = Pair(*programs, self.names, min(self.deadline, time.monotonic() + _LARGE_S))
        self.outcomes += (
            [item for item in pair.ask(inputs) if not item.code.ending] if inputs else []
        )
        self.tried += pair.tried

    @property
    def is_interrupted(self) -> bool:
        return self.code.is_interrupted or self.peer.is_interrupted

    def summarize(self) -> Comparison:
        tried = self.tried
        compared = [item for item in self.outcomes if item.agrees is not None]
        differing = [item for item in compared if not item.agrees]
        found = reduce_differences(differing, self.ask, self.deadline) if differing else []
        return Comparison(
            inputs=tried,
            allowed=len(compared),
            agreed=len(compared) - len(differing),
            differences=tuple(item.to_record() for item in found),
            slower=self._find_slower() if compared else (),
            problem=self._explain(bool(compared)),
        )

    def _find_slower(self) -> tuple[str, ...]:
        """Return the smallest calls of growing ones on which the code is far slower, seen twice.

        A peer that does something else is no measure.
        """
        outcomes = [item for item in self.outcomes if not is_deep(item.item.node)]
        differing = {item.item.name for item in outcomes if item.agrees is False}
        suspects = [i for i in outcomes if i.is_slower and i.item.name not in differing]
        first = {item.item.name: item for item in reversed(suspects)}
        again = self.ask([item.item for item in first.values()][:_MAX_SLOWER])
        slower = (item for item in again if item.is_slower)
        return tuple(item.call for item in slower if self._grows_beyond_powers(item.item))

    def _grows_beyond_powers(self, item: Input) -> bool:
        """Return whether the code's cost grows faster with the size than its sixth power.

        Code that is plainly slow, four loops within each other, is not what is looked for.
        """
        while smaller := _cut(item):
            if not self.code.run([smaller], 0.0)[0].is_late:
                break
            item = smaller
        if not (smaller and (smallest := _cut(smaller))):
            return True
        costs = [self.code.run([one], 4.0, 1.0)[0].cpu_s for one in (item, smallest)]
        return costs[0] > _MAX_GROWTH * costs[1]

    def _explain(self, has_compared: bool) -> str:
        """Return why nothing, or not all, could be compared."""
        if has_compared:
            return self._limit(self.peer.errors)
        if not self.tried:
            return self._limit(self.peer.errors) or "no inputs were found for the interface"
        why = self._limit(self.peer.errors) or self._limit(self.code.errors, "the code")
        return why or f"the peer allows or answers none of {self.tried} inputs"

    @staticmethod
    def _limit(errors: Sequence[str], what: str = "the peer or its inputs") -> str:
        text = " ".join(errors[0].split())[:_MAX_PROBLEM] if errors else ""
        return f"{what}: {text}" if text else ""
