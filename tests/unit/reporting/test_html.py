"""The page of a run: whole, self-contained, and deaf to what foreign code wrote."""

from __future__ import annotations

import os
from html.parser import HTMLParser
from pathlib import Path

import pytest

from greenloop.records import BatchOutcome, BatchTotals, Report
from greenloop.reporting.html import IndexEntry, render_index_html, render_report_html
from greenloop.reporting.html.attempts import build_attempt_views
from greenloop.reporting.html.code import annotate_code
from greenloop.reporting.traceability import build_traceability_matrix
from tests.support.reports import HOSTILE, all_kinds, huge, made, older

GOLDEN = Path(__file__).parent / "golden" / "report.html"
REPORTS = all_kinds()
_VOID = {"meta", "link", "br", "rect"}


class Read(HTMLParser):
    """Tags and attributes of a page; fails where a tag is closed that is not open."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self._open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("kind", REPORTS)
def test_a_page_is_whole_and_asks_for_nothing(kind: str) -> None:
    page = render_report_html(REPORTS[kind])
    read = Read(page)
    assert not read.tags & {"script", "img", "iframe", "object", "form", "base"}
    assert not [name for name in read.attributes if name.startswith("on")]
    assert all(link.startswith("#") or link == "data:," for link in read.addresses)
    assert "url(" not in page
    assert "@import" not in page
    assert REPORTS[kind].verdict in read.text


def test_the_page_of_a_run_is_the_one_that_was_looked_at() -> None:
    head, _, rest = render_report_html(made()).partition("<style>")
    page = (
        head + rest.partition("</style>")[2]
    )  # its looks are tests/slow/test_report_in_browser.py's
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(page, encoding="utf-8")
    assert page == GOLDEN.read_text("utf-8")


def test_what_foreign_code_wrote_stands_there_as_text() -> None:
    page = render_report_html(made(HOSTILE))
    assert not set(page) & set("\x1b\x07\x00\x9b\u202e\u2066\u2028\ufffe\U000e0041")
    text = Read(page).text
    for part in ("<img src=x onerror=alert(2)>", "⟨U+202E⟩txet", "␛[31mred", "{{ 7 * 7 }}"):
        assert part in text


def test_ten_thousand_tests_make_a_page_that_can_be_read() -> None:
    page = render_report_html(huge())
    assert len(page) < 1_000_000
    matrix = build_traceability_matrix(huge())
    assert matrix.rows[0].entry.outcome == "failed"
    assert matrix.left_out == 9_600


def test_the_code_has_its_faults_and_its_reach_beside_its_lines() -> None:
    lines = {line.number: line for line in annotate_code(made()).lines}
    assert [line.coverage for line in lines.values()] == ["hit", "", "hit", "miss", "hit"]
    assert (len(lines[5].detected), len(lines[3].survivors)) == (1, 1)
    assert lines[3].survivors[0].mutated_line.startswith("if k <= 0:")
    assert (lines[3].missed_branches, lines[5].missed_branches) == (("4",), ("exit",))


def test_each_attempt_has_what_caused_it_and_what_it_changed() -> None:
    first, second = build_attempt_views(made())
    assert (first.diff, first.failures) == ((), ())
    assert [item.failure.exception for item in second.failures] == ["Failed"]
    assert second.is_final
    assert "+    if k < 0:" in [line.text for line in second.diff if line.kind == "add"]


def test_an_older_report_shows_what_it_knows() -> None:
    lines = {line.number: line for line in annotate_code(older()).lines}
    assert (lines[4].coverage, lines[1].coverage, len(lines[3].survivors)) == ("miss", "", 1)
    assert [step.diff for step in build_attempt_views(older())] == [(), ()]


def test_an_index_tells_of_all_runs_and_links_to_their_pages() -> None:
    ran = BatchOutcome(id="top k", sha256="x", kind="reached", exit_status=0, verdict="passed")
    ran = ran.model_copy(update={"run_dir": "one", "tests": 17, "tokens": 12345, "calls": 2})
    broken = ran.model_copy(update={"kind": "broken off", "reason": HOSTILE, "verdict": None})
    entries = [
        IndexEntry("specs/top k.md", ran, "one/report.html", links=(("JSON", "one/r.json"),)),
        IndexEntry(HOSTILE, broken, "javascript:alert(1)"),
        IndexEntry("specs/none.md"),
    ]
    totals = BatchTotals(specifications=3, reached=1, broken_off=1, tokens=24690, calls=4)
    read = Read(render_index_html(entries, totals, "All of it"))
    links = [link for link in read.addresses if link != "data:,"]
    assert links == ["./one/report.html", "./one/r.json", "./javascript%3Aalert%281%29"]
    for part in ("All of it", "1 passed", "1 broken off", "1 not run", "17", "24\u202f690"):
        assert part in read.text
    assert "script" not in read.tags


def test_a_test_that_failed_before_it_was_dropped_is_seen_per_attempt() -> None:
    report: Report = made()
    rows = {row.name: row for row in build_traceability_matrix(report).rows}
    assert [cell.state for cell in rows["test_wrong"].attempt_cells] == ["bad", "none"]
    assert rows["test_wrong"].final_cell.state == "aside"
