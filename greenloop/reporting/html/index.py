"""Many runs on one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from greenloop.records import Report
from greenloop.reporting.html.rendering import render
from greenloop.reporting.naming import title_of


@dataclass(frozen=True)
class IndexEntry:
    """One run: its specification's name, and where its page is, relative to the index.

    `report` is None for a run that left none; `note` says why. `links` are further files, by name.
    """

    specification: str
    report: Report | None
    page: str = ""
    note: str = ""
    links: tuple[tuple[str, str], ...] = ()

    @property
    def verdict(self) -> str:
        return self.report.verdict if self.report else "no report"

    @property
    def module(self) -> str:
        return title_of(self.report) if self.report else ""

    @property
    def why(self) -> str:
        """The first reason why it is not better."""
        return (self.report.reasons[:1] or ("",))[0] if self.report else self.note

    @property
    def passed(self) -> int:
        return sum(x.outcome == "passed" for x in self.report.tests) if self.report else 0

    @property
    def tests(self) -> int:
        """Tests that count."""
        tests = self.report.tests if self.report else ()
        return sum(x.outcome not in ("dropped", "invalid") for x in tests)

    @property
    def mutants(self) -> float | None:
        mutation = self.report.evidence.mutation if self.report else None
        return mutation.score if mutation else None


def index_html(entries: Sequence[IndexEntry], title: str = "Runs") -> str:
    """The page, in the order of the entries."""
    counts = {
        name: sum(item.verdict == name for item in entries)
        for name in ("verified", "passed", "failed", "no report")
    }
    costs = [item.report.usage.cost_usd for item in entries if item.report]
    known = [cost for cost in costs if cost is not None]
    return render(
        "index.html",
        title=title,
        entries=entries,
        counts={name: count for name, count in counts.items() if count},
        cost=sum(known) if known and len(known) == len(costs) else None,
        tokens=sum(
            item.report.usage.input_tokens + item.report.usage.output_tokens
            for item in entries
            if item.report
        ),
        seconds_all=sum(item.report.timings.total_s for item in entries if item.report),
        link=_link,
    )


def _link(path: str) -> str:
    """A relative path as an address; never another scheme than a file's own."""
    return "./" + quote(path.lstrip("/"), safe="/")
