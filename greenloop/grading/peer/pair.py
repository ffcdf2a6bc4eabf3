"""Comparison of two programs on the same inputs, within a budget of CPU time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from greenloop.grading.inputs.builder import InputBuilder
from greenloop.grading.inputs.growth import cut_arguments, is_deep
from greenloop.grading.inputs.programs import Input
from greenloop.grading.inputs.runs import NOT_RUN, Answer, Program
from greenloop.grading.peer.answers import is_refused
from greenloop.grading.peer.names import Names
from greenloop.grading.peer.outcomes import Outcome, judge
from greenloop.grading.peer.records import Comparison
from greenloop.grading.peer.reduction import reduce_differences
from greenloop.grading.peer.rendering import describe, render_statements
from greenloop.records.evidence.peer import MIN_ALLOWED_INPUTS
from greenloop.sandbox.guest.observation.inputs.calls import ALLOWED, ANSWER, ENDING
from greenloop.sandbox.work.observations import load

_BATCH, _ENOUGH, _MIN_BATCH, _MAX_SLOWER, _MAX_PROBLEM, _MAX_REFUSED = 450, 450, 100, 3, 300, 8
_LARGE_S = 0.5
_MAX_GROWTH = 2.25**6  # of the cost, while the size grows by a factor of 2.25


def _cut(item: Input) -> Input | None:
    """Return an input of two thirds the size."""
    node = cut_arguments(item.node)
    return replace(item, node=node) if node else None


def _is_refused(answer: Answer) -> bool:
    """Whether the precondition forbids an input, or fails on it."""
    if found := answer.load(ALLOWED):
        return found.get("value") is not True
    return any(is_refused(load(text)) for _, text in answer.observed)


def _show(item: Input) -> str:
    return item.text if item.is_call else render_statements(item.node, ENDING)


def _name_idle(outcomes: Sequence[Outcome]) -> dict[str, Outcome]:
    """Return the functions whose calls all give one answer in both programs."""
    groups: dict[str, list[Outcome]] = {}
    for item in outcomes:
        if item.item.is_call:
            groups.setdefault(item.item.name, []).append(item)
    return {
        name: items[0]
        for name, items in groups.items()
        if len(items) > 1 and all(item.agrees for item in items)
        if len({item.code.observed for item in items}) == 1
    }


def _explain_idle(functions: Mapping[str, Outcome]) -> str:
    for name, item in functions.items():
        return f"all calls of {name} give one answer: {describe(item.code.load(ANSWER))}"
    return ""


@dataclass
class Pair:
    """Two programs, and the outcomes of the inputs that both were given.

    No input is begun once both have spent `budget_s` seconds of CPU time since the last `renew`.
    """

    code: Program
    peer: Program
    names: Names
    budget_s: float
    tried: int = 0
    last_new: int = 0  # the value of `tried` when an input was last compared
    is_exhausted: bool = False
    outcomes: list[Outcome] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    given: frozenset[str] = frozenset()  # the inputs of the generator, the tests and the examples

    def __post_init__(self) -> None:
        self.renew(self.budget_s)

    def renew(self, budget_s: float) -> None:
        """Begin a new budget of CPU time."""
        self.budget_s, self._before_s = budget_s, self.code.spent_s + self.peer.spent_s

    @property
    def left_s(self) -> float:
        return self.budget_s + self._before_s - self.code.spent_s - self.peer.spent_s

    def ask(self, inputs: Sequence[Input]) -> list[Outcome]:
        """Run the peer on inputs for half of the time, then the code on those that it allows."""
        answers = self.peer.run(inputs, self.left_s / 2)
        self.tried += sum(item.ending != NOT_RUN for item in answers)
        rows = [*zip(inputs, answers, strict=True)]
        self.refused += [_show(item) for item, answer in rows if _is_refused(answer)]
        allowed = [row for row in rows if row[1].is_allowed and not row[1].is_late]
        mine = iter(self.code.run([item for item, _ in allowed], self.left_s))
        return [judge(item, next(mine), answer, self.names) for item, answer in allowed]

    def without_precondition(self, budget_s: float) -> "Pair":
        """Return the pair without precondition: a call that a test makes needs no permission."""
        return Pair(self.code, replace(self.peer, inputs=""), self.names, budget_s)

    def run_all(self, builder: InputBuilder) -> None:
        """Compare on a first batch of inputs, then on more until enough were compared."""
        inputs, missing = builder.build(), _BATCH
        while missing > 0 and (batch := list(islice(inputs, max(missing, _MIN_BATCH)))):
            found = self.ask(batch)
            self.outcomes += found
            compared = [item.item for item in found if item.agrees is not None]
            self.last_new = self.tried if compared else self.last_new
            builder.learn(len(batch), compared)
            if self.left_s < 0 or self.is_interrupted:
                return
            missing = _ENOUGH - sum(item.agrees is not None for item in self.outcomes)
        self.is_exhausted = missing > 0 and self.last_new <= self.tried / 2
        self._run_large(builder.enlarge())

    def _run_large(self, inputs: Sequence[Input]) -> None:
        """Compare on large integers; an input that ends the code's process does not count."""
        programs = replace(self.code, errors=[]), replace(self.peer, errors=[])
        pair = Pair(*programs, self.names, min(self.left_s, _LARGE_S))
        self.outcomes += (
            [item for item in pair.ask(inputs) if not item.code.ending] if inputs else []
        )
        self.tried += pair.tried

    @property
    def is_interrupted(self) -> bool:
        return self.code.is_interrupted or self.peer.is_interrupted

    def summarize(self) -> Comparison:
        """Return the comparison; functions whose calls all give one answer do not count.

        Where most of the given inputs are refused, others may well exist.
        """
        tried = self.tried
        compared = [item for item in self.outcomes if item.agrees is not None]
        differing = [item for item in compared if not item.agrees]
        idle = _name_idle(compared)
        counted = [item for item in compared if not (item.item.is_call and item.item.name in idle)]
        found = reduce_differences(differing, self) if differing else []
        is_few = len(counted) < MIN_ALLOWED_INPUTS
        refused = sorted(dict.fromkeys(self.refused), key=lambda text: text not in self.given)
        is_whole = self.is_exhausted and len(compared) > len(self.outcomes) / 2
        is_strict = len(self.given.intersection(refused)) > len(compared)
        return Comparison(
            inputs=tried,
            allowed=len(counted),
            agreed=len(counted) - len(differing),
            differences=tuple(item.to_record() for item in found),
            slower=self._find_slower() if compared else (),
            problem=(_explain_idle(idle) if is_few else "") or self._explain(bool(compared)),
            is_exhausted=is_whole and not is_strict,
            refused=tuple(text[:_MAX_PROBLEM] for text in refused[:_MAX_REFUSED]),
        )

    def _find_slower(self) -> tuple[str, ...]:
        """Return each function's smallest call on which the code is far slower in two runs.

        Functions with a difference are left out: a peer that does something else is no measure.
        """
        outcomes = [item for item in self.outcomes if not is_deep(item.item.node)]
        differing = {item.item.name for item in outcomes if item.agrees is False}
        suspects = [i for i in outcomes if i.is_slower and i.item.name not in differing]
        first = {item.item.name: item for item in reversed(suspects)}
        again = self.ask([item.item for item in first.values()][:_MAX_SLOWER])
        slower = (item for item in again if item.is_slower)
        return tuple(item.call for item in slower if self._grows_beyond_powers(item.item))

    def _grows_beyond_powers(self, item: Input) -> bool:
        """Return whether the code's cost grows faster than the sixth power of the size.

        Code that is merely slow, such as four nested loops, is not reported.
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
        return why or f"the second implementation accepts none of {self.tried} inputs"

    @staticmethod
    def _limit(errors: Sequence[str], what: str = "the peer or its inputs") -> str:
        text = " ".join(errors[0].split())[:_MAX_PROBLEM] if errors else ""
        return f"{what}: {text}" if text else ""
