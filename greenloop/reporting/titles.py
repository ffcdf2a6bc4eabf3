"""What a report is called, and what its verdict means, in whatever form it is shown."""

from __future__ import annotations

from typing import Final

from greenloop.records import Report, Verdict
from greenloop.reporting.escaping import first_line

VERDICT_MEANINGS: Final[dict[Verdict, str]] = {
    "verified": "Every test that stands passes, and every piece of evidence reaches its threshold.",
    "passed": "Every test that stands passes and nothing was forged, but the evidence falls short.",
    "failed": "The code did not get there: see why below.",
}
_MAX_TITLE_LENGTH = 60
VERDICT_SIGNS: Final[dict[Verdict, str]] = {"verified": "✓", "passed": "○", "failed": "✗"}


def report_title(report: Report) -> str:
    """The module's name, or as much of what was asked for as fits."""
    module = report.module or (report.contract.module if report.contract else "")
    named = first_line(module or report.specification, 1000) or "a run"
    return named if len(named) <= _MAX_TITLE_LENGTH else f"{named[: _MAX_TITLE_LENGTH - 2]} …"
