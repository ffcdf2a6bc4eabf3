"""HTML index of a batch."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from greenloop.records.batch import BatchOutcome, BatchTotals
from greenloop.reporting.html.rendering import render

_KIND_LABELS = {"broken off": "error", "refused": "changed by hand"}
_SKIP_REASONS = {
    "unchanged": "unchanged since it was graded",
    "done before": "ended in an earlier call",
}


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One specification; `outcome` is None if it was not run. `page` and `links` (label and path)
    are files, with paths relative to the index."""

    specification: str
    outcome: BatchOutcome | None = None
    page: str = ""
    links: tuple[tuple[str, str], ...] = ()

    @property
    def verdict(self) -> str:
        """The verdict, or the kind of an outcome that has none."""
        if self.outcome is None:
            return "not run"
        return _KIND_LABELS.get(self.outcome.kind) or self.outcome.verdict or "no report"

    @property
    def why(self) -> str:
        """The reason why the verdict is not better, or why the entry was not run again."""
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
