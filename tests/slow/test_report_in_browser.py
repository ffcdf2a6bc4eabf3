"""The HTML report in a real browser: no request, no console message, no overflow, accessible
to screen readers."""

import json
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from greenloop.records import Report
from greenloop.records.batch import BatchOutcome, BatchTotals
from greenloop.reporting.html.index import IndexEntry, render_index_html
from greenloop.reporting.html.page import render_report_html
from tests.support.browser import Page, browser, chromium
from tests.support.reports import (
    HOSTILE,
    build_check_report,
    build_make_report,
    build_refused_report,
    huge,
)

pytestmark = pytest.mark.skipif(
    chromium() is None, reason="no Chromium here (apt install chromium)"
)
LOOKS = [(1400, False), (390, False), (1400, True)]
REPORTS = {
    "made": build_make_report(),
    "hostile": build_make_report(HOSTILE),
    "checked": build_check_report(),
    "refused": build_refused_report(),
}


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser() as opened:
        yield opened


def axe() -> str:
    """Return axe-core's script: the file that AXE_CORE names, or that of axe-core-python."""
    if named := os.environ.get("AXE_CORE"):
        return Path(named).read_text("utf-8")
    found = find_spec("axe_core_python")
    if found is None or found.origin is None:
        pytest.skip("no axe-core: pip install axe-core-python, or AXE_CORE=…/axe.min.js")
    return (Path(found.origin).parent / "axe.min.js").read_text("utf-8")


def open_page(page: Page, folder: Path, text: str, width: int, dark: bool) -> None:
    (folder / "page.html").write_text(text, encoding="utf-8")
    page.look(width, dark=dark)
    page.open(folder / "page.html")


@pytest.mark.parametrize("kind", REPORTS)
def test_no_request_is_made_and_nothing_overflows(page: Page, tmp_path: Path, kind: str) -> None:
    for width, dark in LOOKS:
        open_page(page, tmp_path, render_report_html(REPORTS[kind]), width, dark)
        assert page.seen.requests == [(tmp_path / "page.html").as_uri()]
        assert page.seen.console == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_ten_thousand_tests_are_rendered_in_time(page: Page, tmp_path: Path) -> None:
    open_page(page, tmp_path, render_report_html(huge()), 390, False)
    assert page.evaluate("document.querySelectorAll('table.tests tbody tr').length") == 400
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize(
    ("kind", "looks"),
    [("made", LOOKS), ("checked", LOOKS[:1]), ("refused", LOOKS[:1]), ("index", LOOKS[::2])],
)
def test_axe_finds_nothing_serious(
    page: Page, tmp_path: Path, kind: str, looks: list[tuple[int, bool]]
) -> None:
    script = axe()
    for width, dark in looks:
        open_page(page, tmp_path, _text(kind), width, dark)
        page.evaluate(f"{script}; undefined")
        told = page.evaluate("axe.run().then(found => JSON.stringify(found.violations))")
        serious = [
            (item["id"], [node["html"] for node in item["nodes"]][:3])
            for item in json.loads(told)
            if item["impact"] in ("serious", "critical")
        ]
        assert serious == []


def _text(kind: str) -> str:
    if kind == "index":
        ended = [_entry(name, report) for name, report in REPORTS.items()]
        totals = BatchTotals(
            specifications=5, reached=2, missed=2, not_run=1, calls=9, tokens=12345
        )
        return render_index_html([*ended, IndexEntry("none.md")], totals)
    return render_report_html(REPORTS[kind])


def _entry(name: str, report: Report) -> IndexEntry:
    outcome = BatchOutcome(
        id=name,
        sha256="",
        kind="broken off" if name == "refused" else "reached",
        exit_status=0,
        verdict=report.verdict,
        reason=next(iter(report.reasons), ""),
        run_dir=name,
        tests=len(report.tests),
        calls=report.usage.calls,
    )
    return IndexEntry(HOSTILE if name == "hostile" else name, outcome, f"{name}/report.html")


def test_folded_parts_are_printed(page: Page, tmp_path: Path) -> None:
    """A folded part of the page is as high on paper as when it is unfolded."""
    (tmp_path / "page.html").write_text(render_report_html(build_make_report()), encoding="utf-8")
    height = "document.querySelector('details:not([open]) .block').getBoundingClientRect().height"
    page.look(1000, media="print")
    page.open(tmp_path / "page.html")
    assert page.evaluate(height) > 10
