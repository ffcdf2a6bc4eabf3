"""Findings of a report as annotations on the lines of a pull request (GitHub Actions)."""

from collections.abc import Iterator

from greenloop.records import Report
from greenloop.reporting.escaping import escape_invisible, truncate
from greenloop.reporting.evidence.survivors import (
    build_survivor_row,
    list_survivors,
)
from greenloop.reporting.evidence.text import list_first_steps
from greenloop.reporting.formats.places import find_code_path, find_issue_path
from greenloop.reporting.summary import format_verdict

_MAX_CHARS = 1000


def render_github(report: Report) -> str:
    """Return a workflow command for each finding, and one for the verdict."""
    return "".join(f"{line}\n" for line in _list_commands(report))


def _list_commands(report: Report) -> Iterator[str]:
    code = find_code_path(report)
    for item in list_survivors(report.evidence):
        text = build_survivor_row(item).advice
        yield format_annotation("warning", text, find_code_path(report, item.path), item.line)
    for failure in report.failures:
        path = find_code_path(report, failure.test.split("::")[0])
        yield format_annotation("error", f"{failure.test}: {failure.message}", path)
    for issue in report.evidence.integrity:
        yield format_annotation("error", issue.what, find_issue_path(report, issue), issue.line)
    level = {"verified": "notice", "passed": "warning", "failed": "error"}[report.verdict]
    text = "; ".join((format_verdict(report), *list_first_steps(report)))
    yield format_annotation(level, text, "" if report.change else code)


def format_annotation(level: str, text: str, path: str = "", line: int = 0) -> str:
    """Return a workflow command, in which untrusted text cannot begin another one."""
    shown = _escape(truncate(escape_invisible(text), _MAX_CHARS))
    place = f"file={_escape(escape_invisible(path), ',:')}" if path else ""
    place += f",line={line}" if path and line >= 1 else ""
    return f"::{level} {place}::{shown}" if place else f"::{level}::{shown}"


def _escape(text: str, more: str = "") -> str:
    """Escape characters as GitHub's own toolkit does."""
    for char in f"%\r\n{more}":
        text = text.replace(char, f"%{ord(char):02X}")
    return text
