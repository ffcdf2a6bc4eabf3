"""What a report is called, and what its verdict means, in whatever form it is shown."""

from __future__ import annotations

from typing import Final

from greenloop.records import Report, Verdict
from greenloop.reporting.escaping import line_of

MEANING: Final[dict[Verdict, str]] = {
    "verified": "Every test that stands passes, and every piece of evidence reaches its threshold.",
    "passed": "Every test that stands passes and nothing was forged, but the evidence falls short.",
    "failed": "The code did not get there: see why below.",
}
_MOST = 60
SIGN: Final[dict[Verdict, str]] = {"verified": "✓", "passed": "○", "failed": "✗"}


def title_of(report: Report) -> str:
    """The module's name, or as much of what was asked for as fits."""
    module = report.module or (report.contract.module if report.contract else "")
    named = line_of(module or report.specification, 1000) or "a run"
    return named if len(named) <= _MOST else f"{named[: _MOST - 2]} …"
