"""The tests run again: on code without function bodies, and under other conditions."""

from collections.abc import Iterator
from typing import ClassVar

from greenloop.records.evidence.base import EvidenceRow, Needed, Piece, Thresholds, format_items


class RedPhase(Piece):
    """The tests on a stub of the contract, where each must fail.

    Those in `passing_on_stub` prove nothing and were dropped. Those in `tolerated` skip with any code.
    """

    title: ClassVar[str] = "without the code"
    needed: ClassVar[Needed] = "with a contract"
    absent: ClassVar[str] = "the tests were not seen to fail without the code"
    is_listed: ClassVar[bool] = False

    reached: bool
    failed: int
    passing_on_stub: tuple[str, ...] = ()
    tolerated: tuple[str, ...] = ()

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        text = f"{self.failed} tests fail without the code, as expected"
        if self.passing_on_stub:
            text += f"; {len(self.passing_on_stub)} passed there and were set aside"
        if not self.reached:
            text = f"not every test was seen to fail without the code: {self.failed} did"
        yield EvidenceRow(self.title, self.reached, text, f"{self.failed} fail")


class EmptyBodies(Piece):
    """The candidate with every function body raising: its tests must fail."""

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


class Flakiness(Piece):
    """The same tests repeated, in another order and with another hash seed."""

    title: ClassVar[str] = "flakiness"
    measured_by: ClassVar[str] = "greenloop.grading.flakiness:measure"

    reached: bool
    order_seed: int
    hash_seed: int
    differing: tuple[str, ...] = ()
    cut_short: str = ""

    def disturbance(self) -> str:
        if self.cut_short or self.reached:
            return self.cut_short
        return f"different outcomes in a second run: {format_items(self.differing)}"

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        which = f": {format_items(self.differing)}" if self.differing else ""
        text, brief = (
            f"different outcomes in another order or with another hash seed{which}",
            "FLAKY",
        )
        if self.cut_short:
            text, brief = self.cut_short, "cut short"
        elif self.reached:
            text, brief = "the same outcomes in another order and with another hash seed", "none"
        yield EvidenceRow(self.title, self.reached, text, brief)
