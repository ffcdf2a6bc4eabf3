"""The same tests again under other conditions."""

from collections.abc import Iterator
from typing import ClassVar

from greenloop.records.evidence.base import EvidenceRow, Piece, Thresholds, format_items


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

    def with_disturbance(self, why: str) -> Piece:
        return self.model_copy(update={"cut_short": why})

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
