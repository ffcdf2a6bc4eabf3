"""Reports of changes: the patch with its survivors, and what changed in a few lines."""

import re
from pathlib import Path

from greenloop.records import (
    Artifacts,
    BaselineResult,
    BeforeAfter,
    Change,
    ChangedFile,
    Coverage,
    Difference,
    Evidence,
    IntegrityFinding,
    Mutation,
    Report,
    Survivor,
)
from greenloop.reporting.formats.github import render_github
from greenloop.reporting.formats.markdown import render_markdown
from greenloop.reporting.formats.sarif import render_sarif
from greenloop.reporting.html.code import annotate_code
from greenloop.reporting.html.page import render_report_html
from greenloop.reporting.summary import format_command
from tests.support.programs import read_program
from tests.support.reports import build_make_report

PATCH = read_program(__file__, "PATCH")
SURVIVOR = Survivor(
    id="a",
    line=8,
    function="f",
    operator="boundary",
    diff="",
    reached=True,
    path="src/a.py",
)


def build_change_report() -> Report:
    change = Change(
        files=(ChangedFile(path="src/a.py", added=1, removed=1),),
        baseline=BaselineResult(locked=7, red=("t::r",)),
        public_changed=("src/a.py: added: def <b>g()",),
        before_after=BeforeAfter(
            inputs=3, differences=(Difference(call="f(0)", code="True", peer="0"),)
        ),
    )
    evidence = Evidence(
        mutation=Mutation(score=0.5, killed=1, survived=(SURVIVOR,)),
        coverage=Coverage(line=0.5, branch=1.0, missed_places=("src/a.py:8",)),
    )
    update = {"change": change, "final_code": PATCH, "evidence": evidence, "command": "change"}
    return build_make_report().model_copy(update=update)


def test_lines_of_the_patch_have_survivors_and_coverage() -> None:
    lines = annotate_code(build_change_report()).lines
    assert [(item.kind, item.number) for item in lines] == [
        *(("file", 0), ("at", 0), ("same", 7), ("del", 0), ("add", 8), ("same", 9)),
    ]
    assert (lines[4].survivors, lines[4].coverage) == ((SURVIVOR,), "miss")
    assert not any(item.survivors for item in (*lines[:4], *lines[5:]))


def test_changed_lines_that_look_like_headers_are_shown_and_counted() -> None:
    patch = PATCH.replace("-    return x\n", "--- a comment in SQL\n+++ x\n")
    lines = annotate_code(build_change_report().model_copy(update={"final_code": patch})).lines
    assert [item.kind for item in lines] == ["file", "at", "same", "del", "add", "add", "same"]
    assert lines[-1].number == 10


def test_number_of_tests_beside_a_line_counts_those_that_are_not_named() -> None:
    report = build_change_report()
    assert report.change is not None
    tests = {"src/a.py": {8: ("a", "b", "and 12 more")}}
    update = {"change": report.change.model_copy(update={"tests_by_line": tests})}
    lines = annotate_code(report.model_copy(update=update)).lines
    assert [item.test_count for item in lines if item.tests] == [14]


def test_all_formats_name_what_changed() -> None:
    report = build_change_report()
    page = render_report_html(report)
    assert "<b>g()" not in page
    for text in (page, render_markdown(report).replace("\\", "")):
        assert re.search(r"src/a\.py", text)
        assert "f(0)" in text
    checked = report.model_copy(update={"command": "check"})
    assert ["locked" in render_markdown(item) for item in (report, checked)] == [True, False]


def test_findings_of_a_checked_project_stand_at_their_files_below_the_working_folder() -> None:
    report = build_change_report()
    changes = {"artifacts": Artifacts(code=str(Path.cwd() / "services/shop"))}
    issue = IntegrityFinding(line=8, what="of src/a.py reads the tests")
    evidence = report.evidence.model_copy(update={"integrity": (issue,)})
    report = report.model_copy(update={**changes, "evidence": evidence})
    assert render_github(report).count("file=services/shop/src/a.py,line=8:") == 2
    assert render_sarif(report).count('"uri": "services/shop/src/a.py"') == 2


def test_the_next_command_names_a_run_that_it_does_not_find_by_itself() -> None:
    for place, shown in ((".greenloop/runs/a", ""), ("out dir/runs/a", " 'out dir/runs/a'")):
        report = build_change_report().model_copy(update={"artifacts": Artifacts(run_dir=place)})
        assert format_command(report, "report") == f"greenloop report{shown}"
