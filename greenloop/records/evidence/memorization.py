"""Variants of the tests' calls, answered without the tests."""

from collections.abc import Iterator
from typing import ClassVar

from greenloop.records.evidence.base import EvidenceRow, Needed, Piece, Thresholds, format_items


class Memorization(Piece):
    """What the code answers in a process without tests to the tests' calls and to variants of them.

    `calls` are those in assertions of the tests that have plain arguments.
    `functions` names functions that answer these and none of the `variants`, calls that differ a
    little. `special_cases` are calls that a branch of the code is written for. `reached`: there is
    neither.
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
            text = f"returns results only for the inputs of the tests; test more inputs: {names}"
            yield EvidenceRow(self.title, False, text, "SUSPECTED")
        for item in self.special_cases:
            text = f"special case for the input of a test; fix the code or the test: {item}"
            yield EvidenceRow(self.title, False, text, "SPECIAL CASE")
        if not self.functions and not self.special_cases:
            count = f"{self.calls} call{'s' * (self.calls != 1)}"
            text = f"returns results for other inputs than those of the tests ({count})"
            yield EvidenceRow(self.title, True, text, "none")
