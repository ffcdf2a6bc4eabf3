"""Findings of code that could forge a verdict."""

from collections.abc import Iterator
from typing import ClassVar

from greenloop.records.base import Record
from greenloop.records.evidence.base import EvidenceRow, Piece, Thresholds

_MAX_FINDINGS = 8
_MAX_TEXT_CHARS = 110


class IntegrityFinding(Record):
    """Code that could forge a verdict."""

    line: int
    what: str


class Integrity(Piece):
    """All findings of a module."""

    title: ClassVar[str] = "integrity"

    findings: tuple[IntegrityFinding, ...]

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        if not self.findings:
            text, brief = "nothing in the code could forge a verdict", "clean"
        else:
            first, more = self.findings[0], len(self.findings) - 1
            text = f"line {first.line} {first.what}{f' (and {more} more)' if more else ''}"
            brief = f"{more + 1} findings"
        yield EvidenceRow(self.title, not self.findings, text[:_MAX_TEXT_CHARS], brief)

    def unmet(self, thresholds: Thresholds) -> Iterator[str]:
        """Yield a reason for each of the first findings, and the number of the others."""
        for item in self.findings[:_MAX_FINDINGS]:
            yield f"integrity: line {item.line}: {item.what}"
        if len(self.findings) > _MAX_FINDINGS:
            yield f"integrity: and {len(self.findings) - _MAX_FINDINGS} more findings"
