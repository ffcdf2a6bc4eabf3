"""Held-out examples: calls with expected answers that no writer of code sees."""

from collections.abc import Iterator
from typing import ClassVar

from greenloop.records.evidence.base import EvidenceRow, Needed, Piece, Thresholds, format_minimum


class HeldOut(Piece):
    """Held-out examples: calls that the code answers, compared in a process without the code.

    It is reached without any where the tests show that there can hardly be such calls.
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
            f"{self.agreed} of {self.total} agree, which no writer of the code has seen "
            f"({format_minimum(threshold)})"
        )
        reached = share >= threshold and not self.cut_short
        brief = f"{self.agreed}/{self.total}"
        yield EvidenceRow(self.title, reached, self.cut_short or text, brief, share, threshold)
