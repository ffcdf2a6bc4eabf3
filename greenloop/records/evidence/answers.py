"""Evidence from processes without tests: isolation, held-out examples, memorization."""

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from greenloop.records.base import Record
from greenloop.records.evidence.base import (
    EvidenceRow,
    Needed,
    Piece,
    Thresholds,
    format_items,
    format_minimum,
)

# Why a test cannot be observed:
COMPARES_NOTHING = "nothing is compared"
LOOKS_AT = "the code looks at"
_DIFFERING = "has the expected result only in the process of the tests: {}"
_OWN = (
    "isolation: {} of {} answers can be compared only by operators of the code: compare their fields,"
    " or their text, with literals"
)
_ELSEWHERE = "isolation: {} of {} tests give another result where a copy of them runs alone: {}"
_LOOKS = "isolation: {} of {} tests show nothing, because {}: {}"
_AMBIGUOUS = (
    "{}: it meets expectations that exclude each other, as an exception of unrelated classes does"
)


class NotObservable(Record):
    """A test that cannot be observed in isolation, with the line and the reason.

    `contradicts`: it passes, although its program gives other results.
    """

    test: str
    line: int
    reason: str
    contradicts: bool = False


class Isolated(Piece):
    """The tests' programs in a process without tests; their results are compared without the code.

    Of all `tests`, `agreed` is the number of those with the expected results. Those in `differing`
    gave other results twice, but not in the process of the tests. `observed` counts both; the others
    are `not_observable`, which does not count against the code. Of the compared `answers`,
    `own_answers` is the number of those that show nothing: only operators of the code can compare
    them, or the code looks at its machine.

    `ambiguous` names classes of the code that meet expectations which exclude each other, such as an
    exception of unrelated classes. `replaced` names built-in functions that the code replaces
    although no test names `builtins`. `reached`: nothing differs or is ambiguous.
    """

    title: ClassVar[str] = "isolation"
    measured_by: ClassVar[str] = "greenloop.grading.observation.isolation:measure"

    reached: bool
    tests: int
    observed: int
    agreed: int
    differing: tuple[str, ...] = ()
    not_observable: tuple[NotObservable, ...] = ()
    answers: int = 0
    own_answers: int = 0
    ambiguous: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        """Yield a row for the observed tests, and rows for differences and ambiguous classes."""
        text = (
            f"{self.agreed} of {self.tests} tests give the same results in processes of their own"
        )
        if self.agreed < self.tests and not self.differing:
            text += self._explain()
        yield EvidenceRow(self.title, True, text, f"{self.agreed}/{self.tests}")
        if self.differing:
            text = _DIFFERING.format(format_items(self.differing))
            yield EvidenceRow(self.title, False, text, "DIFFERS")
        if self.ambiguous:
            text = _AMBIGUOUS.format(format_items(self.ambiguous))
            yield EvidenceRow(self.title, False, text, "ambiguous")

    def forgery(self) -> str:
        names = ", ".join(f"`{name}`" for name in self.replaced)
        return f"the code replaces {names}, which its tests use" if names else ""

    def explain_own_answers(self) -> str:
        """Say why most answers show nothing; '' if at most half do."""
        if 2 * self.own_answers <= self.answers:
            return ""
        names = [item.test for item in self.not_observable if item.contradicts]
        if names:
            return _ELSEWHERE.format(len(names), self.tests, format_items(names))
        looking = [i for i in self.not_observable if i.reason.startswith(LOOKS_AT)]
        if looking:
            names = [item.test for item in looking]
            reason = looking[0].reason
            return _LOOKS.format(len(names), self.tests, reason, format_items(names))
        return _OWN.format(self.own_answers, self.answers)

    def _explain(self) -> str:
        """Return the most frequent reasons, each with the first line that has it."""
        lines = {item.reason: item.line for item in reversed(self.not_observable)}
        frequent = Counter(item.reason for item in self.not_observable).most_common(3)
        reasons = [f"{count} × {reason} (line {lines[reason]})" for reason, count in frequent]
        return f"; not observed: {'; '.join(reasons)}" if reasons else ""


class HeldOut(Piece):
    """Held-out examples: calls that the code answers; the answers are compared without the code.

    `reached` is true without an example if the tests show that there can hardly be one.
    """

    title: ClassVar[str] = "held-out examples"
    measured_by: ClassVar[str] = "greenloop.grading.held_out_examples:measure"
    needed: ClassVar[Needed] = "with a text"
    absent: ClassVar[str] = "none were given"
    is_listed: ClassVar[bool] = False

    reached: bool
    total: int
    agreed: int
    disagreed: tuple[str, ...] = ()
    invalid: tuple[str, ...] = ()
    cut_short: str = ""

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        if not self.total:
            text = "none can be given: the tests need files or other fixtures"
            yield EvidenceRow(
                self.title, self.reached, text if self.reached else self.absent, "0/0"
            )
            return
        share, threshold = self.agreed / self.total, thresholds.held_out_agreement
        text = (
            f"{self.agreed} of {self.total} agree; no writer of the code has seen them "
            f"({format_minimum(threshold)})"
        )
        reached = share >= threshold and not self.cut_short
        brief = f"{self.agreed}/{self.total}"
        yield EvidenceRow(self.title, reached, self.cut_short or text, brief, share, threshold)


_ONLY_TESTED = (
    "returns results only for the inputs of the tests; "
    "test more inputs, or if none are valid, check with a text (--spec)"
)


class Memorization(Piece):
    """What the code answers to the tests' calls and to variants of them, in a process without tests.

    `calls` is the number of calls with plain arguments in assertions, `variants` that of similar
    calls. `functions` names functions that answer the calls and no variant, `special_cases` calls
    that have a branch of their own in the code. `reached`: there is neither.
    """

    title: ClassVar[str] = "memorization"
    measured_by: ClassVar[str] = "greenloop.grading.memorization.evidence:measure"
    needed: ClassVar[Needed] = "where measured"
    absent: ClassVar[str] = "no test calls the code with plain values alone"

    reached: bool
    calls: int
    variants: int = 0
    functions: tuple[str, ...] = ()
    special_cases: tuple[str, ...] = ()

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        if self.functions:
            names = format_items([f"`{item}`" for item in self.functions])
            text = f"{_ONLY_TESTED}: {names}"
            yield EvidenceRow(self.title, False, text, "SUSPECTED")
        for item in self.special_cases:
            text = f"special case for the input of a test; fix the code or the test: {item}"
            yield EvidenceRow(self.title, False, text, "SPECIAL CASE")
        if not self.functions and not self.special_cases:
            count = f"{self.calls} call{'s' * (self.calls != 1)}"
            text = f"returns results for other inputs than those of the tests ({count})"
            yield EvidenceRow(self.title, True, text, "none")
