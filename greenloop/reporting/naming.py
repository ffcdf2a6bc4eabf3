"""What a report is called, and what its verdict means, in whatever form it is shown."""

from __future__ import annotations

from typing import Final

from greenloop.records import Report, Verdict
from greenloop.reporting.harmless import line_of

MEANING: Final[dict[Verdict, str]] = {
    "verified": "Every test that stands passes, and every piece of evidence reaches its threshold.",
    "passed": "Every test that stands passes and nothing was forged, but the evidence falls short.",
    "failed": "The code did not get there: see why below.",
}
SIGN: Final[dict[Verdict, str]] = {"verified": "✓", "passed": "○", "failed": "✗"}


def title_of(report: Report) -> str:
    """The module's name, or as much of what was asked for as fits."""
    if report.module:
        return line_of(report.module, 80)
    if report.contract:
        return report.contract.module
    return line_of(report.specification, 60) or "a run"
