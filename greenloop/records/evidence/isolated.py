"""Tests whose results the code also gives in a process that holds no tests."""

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar

from greenloop.records.base import Record
from greenloop.records.evidence.base import EvidenceRow, Piece, Thresholds, format_items

_REMEDY = "compare results of the module with literals in the body of the test"
_DIFFERING = "has the expected result only in the process of the tests: {}"
_CONTRADICTING = (
    f"passes although other results than the expected ones are observed: {{}}; {_REMEDY}"
)
_NAMES_MISSING = f"too few tests with the same results in isolation use {{}}: {_REMEDY}"
_AMBIGUOUS = "{}: caught as several unrelated exceptions: derive it from one of them"


class NotObservable(Record):
    """A test whose results cannot be compared apart from the code, the line and the reason."""

    test: str
    line: int
    reason: str


class Isolated(Piece):
    """The bodies of the tests in a process without tests, their results compared without the code.

    Of `tests`, those in `agreed` give there what the test expects, in all rows; `observed` counts
    these and those in `differing`, which twice gave something else while they agree beside the
    tests. The others are `not_observable`; of these, `contradicting` pass although the code's
    answers, beside the tests too, are not what they expect. `names_missing` are public names of the
    module, and methods that the tests name, which too few agreeing tests use,
    `ambiguous_exceptions` classes of the module that several unrelated `except` clauses catch: a
    test that expects one of these proves nothing. `replaced` are built-in functions that the code
    replaces for the tests too, and, where a test is `differing`, a function of the test framework.
    `reached`: enough tests agree, none differs or contradicts, no name is missing, no exception is
    ambiguous.
    """

    title: ClassVar[str] = "isolation"
    measured_by: ClassVar[str] = "greenloop.grading.isolation.evidence:measure"

    reached: bool
    tests: int
    observed: int
    agreed: int
    differing: tuple[str, ...] = ()
    contradicting: tuple[str, ...] = ()
    not_observable: tuple[NotObservable, ...] = ()
    names_missing: tuple[str, ...] = ()
    ambiguous_exceptions: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        """Yield a row for the share of tests, and one each for differences and missing names."""
        share, threshold = self.agreed / max(self.tests, 1), thresholds.isolated
        text = f"{self.agreed} of {self.tests} tests have the same results where the code runs in another process (at least {threshold:.0%})"
        reached = share >= threshold and self.agreed > 0
        text += "" if reached else self._explain_shortfall()
        brief = f"{self.agreed}/{self.tests}"
        yield EvidenceRow(self.title, reached, text, brief, share, threshold)
        for names, template, brief in (
            (self.differing, _DIFFERING, "DIFFERS"),
            (self.contradicting, _CONTRADICTING, f"{len(self.contradicting)} contradict"),
            (self.names_missing, _NAMES_MISSING, f"{len(self.names_missing)} names"),
            (self.ambiguous_exceptions, _AMBIGUOUS, "ambiguous"),
        ):
            if names:
                text = template.format(format_items(names))
                yield EvidenceRow(self.title, False, text, brief)

    def forgery(self) -> str:
        names = ", ".join(f"`{name}`" for name in self.replaced)
        return f"the code replaces {names}, which its tests use" if names else ""

    def _explain_shortfall(self) -> str:
        """Return the most frequent reasons, each with the first line that has it, and the remedy."""
        lines = {item.reason: item.line for item in reversed(self.not_observable)}
        frequent = Counter(item.reason for item in self.not_observable).most_common(3)
        reasons = [f"{count} × {reason} (line {lines[reason]})" for reason, count in frequent]
        return f"; not observable: {'; '.join(reasons)}; {_REMEDY}" if reasons else ""
