"""HTML pages: well-formed, self-contained, and untrusted text escaped."""

import os
from html.parser import HTMLParser
from pathlib import Path

import pytest

from greenloop.records.batch import BatchOutcome, BatchTotals
from greenloop.reporting.evidence.survivors import get_mutated_line
from greenloop.reporting.html.attempts import build_attempt_views
from greenloop.reporting.html.code import annotate_code, highlight_lines
from greenloop.reporting.html.index import IndexEntry, render_index_html
from greenloop.reporting.html.page import render_report_html
from greenloop.reporting.html.rendering import format_seconds
from tests.support.reports import (
    HOSTILE,
    all_kinds,
    build_check_report,
    build_make_report,
    failure,
    huge,
    older,
)

GOLDEN = Path(__file__).parent / "golden" / "report.html"
REPORTS = all_kinds()
_VOID = {"meta", "link", "br", "wbr"}


class ParsedPage(HTMLParser):
    """Tags and attributes of a page; it fails on unbalanced tags."""

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
def test_page_is_well_formed_and_loads_nothing(kind: str) -> None:
    page = render_report_html(REPORTS[kind])
    parsed = ParsedPage(page)
    assert not parsed.tags & {"script", "img", "iframe", "object", "form", "base"}
    assert not [name for name in parsed.attributes if name.startswith("on")]
    assert all(link.startswith("#") or link == "data:," for link in parsed.addresses)
    assert "url(" not in page
    assert "@import" not in page
    assert REPORTS[kind].verdict in parsed.text


def test_page_matches_the_golden_file() -> None:
    head, _, rest = render_report_html(build_make_report()).partition("<style>")
    page = head + rest.partition("</style>")[2]  # styles: tests/slow/test_report_in_browser.py
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(page, encoding="utf-8")
    assert page == GOLDEN.read_text("utf-8")


def test_untrusted_text_is_escaped() -> None:
    page = render_report_html(build_make_report(HOSTILE))
    assert not set(page) & set("\x1b\x07\x00\x9b\u202e\u2066\u2028\ufffe\U000e0041")
    text = ParsedPage(page).text
    for part in ("<img src=x onerror=alert(2)>", "⟨U+202E⟩txet", "␛[31mred", "{{ 7 * 7 }}"):
        assert part in text


def test_page_of_ten_thousand_tests_is_limited() -> None:
    page = render_report_html(huge())
    assert len(page) < 1_000_000
    table = page.partition('<table class="tests">')[2]
    assert table.index("✗ failed") < table.index("✓ passed")
    assert "and 9\u202f600 more tests" in table


def test_code_lines_have_mutants_and_coverage() -> None:
    lines = {line.number: line for line in annotate_code(build_make_report()).lines}
    assert [line.coverage for line in lines.values()] == ["hit", "", "hit", "miss", "hit"]
    assert (len(lines[5].detected), len(lines[3].survivors)) == (1, 1)
    assert get_mutated_line(lines[3].survivors[0]).startswith("if k <= 0:")
    assert (lines[3].missed_branches, lines[5].missed_branches) == (("4",), ("exit",))


def test_attempts_have_their_cause_and_diff() -> None:
    first, second = build_attempt_views(build_make_report())
    assert (first.diff, first.failures) == ((), ())
    assert [item.exception for item in second.failures] == ["Failed"]
    assert second.is_final
    assert "+    if k < 0:" in [text for kind, text in second.diff if kind == "add"]


def test_older_report_is_shown_without_missing_keys() -> None:
    lines = {line.number: line for line in annotate_code(older()).lines}
    assert (lines[4].coverage, lines[1].coverage, len(lines[3].survivors)) == ("miss", "", 1)
    assert [step.diff for step in build_attempt_views(older())] == [(), ()]


def test_index_lists_all_runs_with_links() -> None:
    ran = BatchOutcome(id="top k", sha256="x", kind="reached", exit_status=0, verdict="passed")
    ran = ran.model_copy(update={"run_dir": "one", "tests": 17, "tokens": 12345, "calls": 2})
    broken = ran.model_copy(update={"kind": "broken off", "reason": HOSTILE, "verdict": None})
    entries = [
        IndexEntry("specs/top k.md", ran, "one/report.html", links=(("JSON", "one/r.json"),)),
        IndexEntry(HOSTILE, broken, "javascript:alert(1)"),
        IndexEntry("specs/none.md"),
    ]
    totals = BatchTotals(specifications=3, reached=1, broken_off=1, tokens=24690, calls=4)
    parsed = ParsedPage(render_index_html(entries, totals, "All of it"))
    links = [link for link in parsed.addresses if link != "data:,"]
    assert links == ["./one/report.html", "./one/r.json", "./javascript%3Aalert%281%29"]
    for part in ("All of it", "1 passed", "1 error", "1 not run", "17", "24\u202f690"):
        assert part in parsed.text
    assert "script" not in parsed.tags


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        ("make", "written from the contract, without the tests"),
        ("heal", "as it was given"),
        ("script", "written from the task"),
    ],
)
def test_first_attempt_says_where_it_is_from(command: str, cause: str) -> None:
    report = build_make_report().model_copy(update={"command": command})
    assert build_attempt_views(report)[0].cause == cause


def test_red_run_shows_its_failing_assertion_beside_the_verdict() -> None:
    page = render_report_html(build_check_report())
    assert page.index('id="failures"') < page.index('<section id="tests"')
    assert "<h2>Evidence</h2>" not in page
    many = tuple(failure(f"t.py::test_{n}") for n in range(5))
    page = render_report_html(build_check_report().model_copy(update={"failures": many}))
    assert page.count('<li><p class="mono"><b>test_') == 5
    assert page.index("test_2<") < page.index("More failures") < page.index("test_3<")


def test_disputes_and_attempts_come_before_the_code() -> None:
    page = render_report_html(build_make_report())
    order = [page.index(f'<section id="{name}"') for name in ("attempts", "disputes", "code")]
    assert order == sorted(order)
    assert "the final code" in page
    red = build_make_report(tests_passed=False, verdict="failed")
    assert "the best attempt" in render_report_html(red)


def test_code_is_highlighted_and_folded_where_it_is_long() -> None:
    page = render_report_html(build_make_report())
    assert '<span class="kw">def</span>' in page
    assert '<details class="code" open>' in page
    long = build_make_report(final_code="x = 'a'\n" * 200)
    assert '<details class="code">' in render_report_html(long)


def test_tokens_have_the_class_of_their_kind() -> None:
    lines = ["@cache.wrap(1)", "def f(x):  # why", '    """one', '    two"""', "    return x @ 2"]
    rows = highlight_lines(lines)
    found = [[(css, text) for css, text in row if css] for row in rows]
    assert found[0] == [("kw", "@cache"), ("nu", "1")]
    assert found[1] == [("kw", "def"), ("na", "f"), ("co", "# why")]
    assert found[2:4] == [[("st", '"""one')], [("st", '    two"""')]]
    assert found[4] == [("kw", "return"), ("nu", "2")]


@pytest.mark.parametrize(
    "code", ["x = '''a\nb'''\n", "é = 1\r\ny\x0c = 2\n", "def (\n\t'", HOSTILE]
)
def test_highlighting_changes_no_character(code: str) -> None:
    lines = code.split("\n")
    for line, tokens in zip(lines, highlight_lines(lines), strict=True):
        assert not tokens or "".join(text for _, text in tokens) == line


def test_recorded_cost_is_not_unknown() -> None:
    environment = build_make_report().environment.model_copy(update={"model": "replay:x.jsonl"})
    assert "<small>recorded</small>" in render_report_html(
        build_make_report(environment=environment)
    )
    assert "<small>unknown</small>" in render_report_html(build_make_report())


def test_a_duration_never_has_sixty_seconds() -> None:
    assert [format_seconds(value) for value in (59.97, 119.7)] == ["1 min 0 s", "2 min 0 s"]
