"""Grades of the modules of a folder, and their rendering in the formats of `check --all`."""

import json
from collections.abc import Sequence
from pathlib import Path

from junitparser import TestCase

from greenloop.records import Record
from greenloop.records.base import escape_json
from greenloop.records.report import is_enough
from greenloop.reporting.formats.github import format_annotation, render_github
from greenloop.reporting.formats.junit import JunitResult, junit_case, render_suite
from greenloop.reporting.formats.markdown import code_span, escape_markdown
from greenloop.reporting.formats.sarif import render_sarif
from greenloop.reporting.loader import read_report

_TABLE_HEAD = ("| verdict | mutants | module | first step |", "|---|---:|---|---|")


class ModuleGrade(Record):
    """Grade of a module and its tests; `score` is the share of mutants that the tests notice."""

    path: str
    verdict: str  # of the report, or "no tests", "not checked"
    score: float = 0.0
    step: str = ""  # the first thing to do
    run_dir: str = ""
    sha256: str = ""  # of the project's files and the settings

    def reaches(self, require: str | None) -> bool:
        """Return whether the verdict is at least the required one, by default `verified`."""
        return is_enough(self.verdict, require or "verified")


def render_grades(grades: Sequence[ModuleGrade], form: str, require: str | None) -> str:
    """Return the grades as text, json, markdown, junit, github or sarif."""
    if form == "json":
        return escape_json(json.dumps([item.model_dump() for item in grades], indent=1)) + "\n"
    if form == "markdown":
        return "\n".join([*_TABLE_HEAD, *map(_table_row, grades), ""])
    if form == "junit":
        cases = (_junit_case(item, is_enough=item.reaches(require)) for item in grades)
        return render_suite("greenloop check --all", cases)
    if form == "text":
        return "".join(map(_format_grade, grades))
    reports = [read_report(Path(item.run_dir)) for item in grades if item.run_dir]
    ungraded = [item for item in grades if not item.run_dir]
    if form == "sarif":
        reasons = {item.path: f"{item.verdict}: {item.step}" for item in ungraded}
        return render_sarif(*reports, ungraded=reasons)
    return "".join([*map(render_github, reports), *map(_annotate, ungraded)])


def _format_grade(item: ModuleGrade) -> str:
    step = f"  {item.step}" if item.step else ""
    noticed = f"{score} of mutants" if (score := _format_score(item)) else ""
    return f"{item.verdict:11} {noticed:15}  {item.path}{step}\n"


def _junit_case(item: ModuleGrade, *, is_enough: bool) -> TestCase:
    result: JunitResult | None = None if is_enough else "failure"
    return junit_case(item.path, result=result, message=item.verdict, text=item.step)


def _annotate(item: ModuleGrade) -> str:
    return f"{format_annotation('error', f'{item.verdict}: {item.step}', item.path)}\n"


def _format_score(item: ModuleGrade) -> str:
    return f"{item.score:4.0%}" if item.verdict in ("passed", "verified") else ""


def _table_row(item: ModuleGrade) -> str:
    place = code_span(item.path)
    return f"| {item.verdict} | {_format_score(item)} | {place} | {escape_markdown(item.step)} |"
