"""HTML index of a batch."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from greenloop.records.batch import BatchOutcome, BatchTotals
from greenloop.reporting.html.code import AnnotatedCode, CodeLine
from greenloop.reporting.html.rendering import render

_KIND_LABELS = {"broken off": "error", "refused": "changed by hand"}
_SKIP_REASONS = {
    "unchanged": "unchanged since it was graded",
    "done before": "ended in an earlier call",
}


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One specification; `outcome` is None where it was not run. `page` and `links` (by name) are
    files, relative to the index."""

    specification: str
    outcome: BatchOutcome | None = None
    page: str = ""
    links: tuple[tuple[str, str], ...] = ()

    @property
    def verdict(self) -> str:
        """The verdict, or the kind of outcome without one."""
        if self.outcome is None:
            return "not run"
        return _KIND_LABELS.get(self.outcome.kind) or self.outcome.verdict or "no report"

    @property
    def why(self) -> str:
        """Why the verdict is not better, or why the entry was not run again."""
        item = self.outcome
        return (item.reason or _SKIP_REASONS.get(item.kind, "")) if item else ""


def render_index_html(
    entries: Sequence[IndexEntry], totals: BatchTotals, title: str = "Batch"
) -> str:
    """Return the page, in the order of the entries."""
    return render(
        "index.html",
        title=title,
        entries=entries,
        totals=totals,
        unknown_cost="recorded" if totals.is_recorded else "unknown",
        counts=Counter(item.verdict for item in entries),
        # A relative path as a URL that cannot name a scheme.
        link=lambda path: "./" + quote(path.lstrip("/"), safe="/"),
    )


_FAULTS_HEIGHT = 56.0  # of all mutants, above and below the middle
_COVERAGE_HEIGHT = 4.0  # of the middle, which shows coverage
_TICK_STEPS, _MAX_TICKS = (5, 10, 25, 50, 100, 250, 500, 1000), 8
_MIN_FAULTS = 6  # mutants of one line that fill the height


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle; `kind` is `noticed`, `alive`, `hit` or `miss`."""

    x: int
    y: float
    height: float
    kind: str


@dataclass(frozen=True, slots=True)
class OverviewBar:
    """All rectangles in a picture of `width` × `height`; a line of code is one unit wide."""

    rectangles: tuple[Rectangle, ...]
    width: int
    height: float
    detected: int
    survived: int
    missed_lines: int

    @property
    def ticks(self) -> tuple[int, ...]:
        """Numbers of lines that are named below the bar."""
        step = next(size for size in _TICK_STEPS if self.width / size <= _MAX_TICKS)
        return (1, *range(step, self.width + 1, step))


def build_overview_bar(code: AnnotatedCode) -> OverviewBar | None:
    """Build the bar; None where nothing was measured."""
    if not code.lines or not (code.measured or code.tried):
        return None
    above = max((len(line.detected) for line in code.lines), default=0)
    below = max((len(line.survivors) for line in code.lines), default=0)
    unit = _FAULTS_HEIGHT / max(above + below, _MIN_FAULTS)
    middle = round(above * unit + 1, 2)
    return OverviewBar(
        rectangles=tuple(
            bar for line in code.lines for bar in _build_rectangles(line, unit, middle)
        ),
        width=max(len(code.lines), 20),
        height=round(middle + _COVERAGE_HEIGHT + 1 + below * unit, 2),
        detected=sum(len(line.detected) for line in code.lines),
        survived=sum(len(line.survivors) for line in code.lines),
        missed_lines=sum(line.coverage == "miss" for line in code.lines),
    )


def _build_rectangles(line: CodeLine, unit: float, coverage_y: float) -> list[Rectangle]:
    up, down = (round(len(items) * unit, 2) for items in (line.detected, line.survivors))
    parts = (
        (coverage_y, _COVERAGE_HEIGHT if line.coverage else 0.0, line.coverage),
        (round(coverage_y - 1 - up, 2), up, "noticed"),
        (round(coverage_y + _COVERAGE_HEIGHT + 1, 2), down, "alive"),
    )
    return [Rectangle(line.number - 1, y, height, kind) for y, height, kind in parts if height]
