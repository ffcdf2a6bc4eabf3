"""Assertion mutation: tests whose expected values are changed must fail."""

from collections.abc import Iterator
from typing import ClassVar

from greenloop.records.base import Record
from greenloop.records.evidence.base import EvidenceRow, Piece, Thresholds, format_minimum


class AssertionSurvivor(Record):
    """A test that still passed although its assertion was changed so that it must fail.

    `test` is a node id, `line` the line of the assertion, `change` its new text. `forged` says why
    only a forgery explains this; '' if the test may simply prove nothing.
    """

    test: str
    line: int
    change: str
    forged: str = ""


class AssertionMutation(Piece):
    """The tests with their expected values changed: each must fail.

    Of `total` passing tests, `controlled` is the number of those that fail with a changed assertion.
    Those in `uncontrolled` have no assertion that can be changed, and those in `green` still passed.
    `unsteady` is an unchanged test with another outcome when another test is changed.
    """

    title: ClassVar[str] = "assertion mutation"
    measured_by: ClassVar[str] = "greenloop.grading.assertion_mutation.evidence:measure"

    reached: bool
    total: int
    controlled: int
    edits: int
    uncontrolled: tuple[str, ...] = ()
    green: tuple[AssertionSurvivor, ...] = ()
    forged: str = ""
    cut_short: str = ""
    unsteady: str = ""

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        threshold = thresholds.assertion_mutation
        text = (
            f"{self.controlled} of {self.total} tests fail when an expected value is changed "
            f"({format_minimum(threshold)})"
        )
        if self.green:
            first, more = self.green[0], len(self.green) - 1
            others = f" (and {more} more)" if more else ""
            text = f"{first.test} stays green when line {first.line} {first.change}{others}; {text}"
        brief = f"{self.controlled}/{self.total}" + (" FORGED" if self.forged else "")
        share = self.controlled / self.total if self.total else None
        yield EvidenceRow(
            self.title,
            self.reached,
            self.cut_short or text,
            brief,
            share,
            threshold if self.total else None,
        )

    def forgery(self) -> str:
        return f"a changed test stays green: {self.forged}" if self.forged else ""
