"""Tests on code without function bodies: on a stub before the code is there, and on the code."""

from collections.abc import Iterator
from typing import ClassVar

from greenloop.records.evidence.base import EvidenceRow, Needed, Piece, Thresholds


class RedPhase(Piece):
    """The tests on a stub: each must fail there, as a run or their text shows.

    Those in `passing_on_stub` prove nothing and were set aside; those in `tolerated` skip whatever
    the code is.
    """

    title: ClassVar[str] = "red phase"
    needed: ClassVar[Needed] = "with a contract"
    absent: ClassVar[str] = "the tests were not seen to fail without the code"
    is_listed: ClassVar[bool] = False

    reached: bool
    failed: int
    passing_on_stub: tuple[str, ...] = ()
    tolerated: tuple[str, ...] = ()

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        text = f"{self.failed} tests fail without the code, as they must"
        if self.passing_on_stub:
            text += f"; {len(self.passing_on_stub)} passed there and were set aside"
        if not self.reached:
            text = f"not every test was seen to fail without the code: {self.failed} did"
        yield EvidenceRow(self.title, self.reached, text, f"{self.failed} red")


class EmptyBodies(Piece):
    """The candidate with every function body raising: it must be red."""

    title: ClassVar[str] = "empty bodies"
    measured_by: ClassVar[str] = "greenloop.grading.empty_bodies:measure"

    reached: bool
    passed: int
    failed: int
    cut_short: str = ""

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        text = self.cut_short or (
            f"{self.failed} of {self.passed + self.failed} tests fail without the function bodies"
            if self.reached
            else "the tests pass without the function bodies"
        )
        yield EvidenceRow(self.title, self.reached, text, "red" if self.reached else "GREEN")

    def forgery(self) -> str:
        if self.reached or self.cut_short:
            return ""
        return "with every function body removed the tests still pass"
