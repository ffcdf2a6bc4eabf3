"""Coverage by line and branch."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from greenloop.records.evidence.base import (
    EvidenceRow,
    Piece,
    Thresholds,
    format_items,
    format_minimum,
    format_share,
)

_MAX_SHOWN = 12


class Coverage(Piece):
    """Shares between 0 and 1 of lines and branches that the tests run; 1 if there are none.

    `missed_lines` are statements that were never run. A missed branch `12->15` means that line 15
    was never run directly after line 12 (`exit`: the end of its function, class or module).
    `statements` are the lines on which a statement begins. `unasked_lines` were not run either, and
    do not count because nothing requires them. `unreached` are public functions and methods that no
    test runs. In a project, `missed_places` are the missed lines as `path:12`, and `tested_places`
    the changed lines that tests run, without those that run at import only.
    """

    title: ClassVar[str] = "coverage"
    row_names: ClassVar[tuple[str, ...]] = ("lines", "branches")
    measured_by: ClassVar[str] = "greenloop.grading.coverage.measurement:measure"

    reached: bool = True
    line: float
    branch: float
    missed_lines: tuple[int, ...] = ()
    missed_branches: tuple[str, ...] = ()
    statements: tuple[int, ...] = ()
    unasked_lines: tuple[int, ...] = ()
    unreached: tuple[str, ...] = ()
    missed_places: tuple[str, ...] = ()
    tested_places: tuple[str, ...] = ()

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        missed = self.missed_lines or self.missed_places
        lines = _build_row("lines", self.line, thresholds.line_coverage, missed)
        if self.unasked_lines:
            apart = format_items(self.unasked_lines, _MAX_SHOWN)
            lines = replace(
                lines, text=f"{lines.text}; not counted, because nothing requires them: {apart}"
            )
        yield lines
        yield _build_row("branches", self.branch, thresholds.branch_coverage, self.missed_branches)
        if self.unreached:
            names, count = format_items(self.unreached), len(self.unreached)
            yield EvidenceRow("functions", False, f"no test runs {names}", f"{count} not run")


def _build_row(name: str, share: float, threshold: float, missed: Sequence[object]) -> EvidenceRow:
    brief = format_share(share, threshold)
    text = f"{brief} ({format_minimum(threshold)})"
    if missed:
        text += f"; never reached: {format_items(missed, _MAX_SHOWN)}"
    return EvidenceRow(name, share >= threshold, text, brief, share, threshold)
