"""Tests whose results the code also gives in a process that holds no tests."""

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from greenloop.records.base import Record
from greenloop.records.evidence.base import EvidenceRow, Piece, Thresholds, format_items

_DIFFERING = "has the expected result only in the process of the tests: {}"
_OWN = (
    "isolation: of {} of {} answers that the tests compare, only operators of the code can say whether"
    " they are right: compare their fields, or a text of them, with literals"
)
_AMBIGUOUS = (
    "{}: it fits expectations that exclude each other, as an exception of unrelated classes does"
)


class NotObservable(Record):
    """A test whose results cannot be compared apart from the code, the line and the reason.

    `contradicts`: it passes, although its program gives other results beside the tests, too.
    """

    test: str
    line: int
    reason: str
    contradicts: bool = False


class Isolated(Piece):
    """Programs of the tests in a process without tests, their results compared without the code.

    Of `tests`, those in `agreed` give there what the test expects, in all rows; `observed` counts
    these and those in `differing`, which twice gave something else, and did not beside the tests.
    The others are `not_observable`: for their form, which accuses nobody, or for their answers. Of
    `answers` that were compared, `own_answers` show nothing, as only operators of the code could
    compare them. `ambiguous` are classes of the code that fit expectations which
    exclude each other: exceptions of unrelated classes, flags that equal all others. `replaced` are
    built-in functions that the code replaces, though no test names `builtins`. `reached`: nothing differs or is ambiguous.
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
        """Yield a row for the tests that were observed, and one for differences."""
        text = f"{self.agreed} of {self.tests} tests were observed and have the same results"
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
        """Return why the tests show little without a text: they lean on the code; '' if they do not."""
        if 2 * self.own_answers <= self.answers:
            return ""
        return _OWN.format(self.own_answers, self.answers)

    def _explain(self) -> str:
        """Return the most frequent reasons, each with the first line that has it."""
        lines = {item.reason: item.line for item in reversed(self.not_observable)}
        frequent = Counter(item.reason for item in self.not_observable).most_common(3)
        reasons = [f"{count} × {reason} (line {lines[reason]})" for reason, count in frequent]
        return f"; not observed: {'; '.join(reasons)}" if reasons else ""
