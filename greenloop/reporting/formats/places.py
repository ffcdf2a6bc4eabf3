"""Paths of the files that findings are about, relative to the working folder."""

import os
from pathlib import Path

from greenloop.records import Report
from greenloop.records.evidence.integrity import IntegrityFinding


def find_code_path(report: Report, inner: str = "") -> str:
    """Return the path of the code's file, relative if it is in the working folder.

    `inner` is a file of the project instead. If changes were checked, `artifacts.code` is its folder.
    """
    name = report.artifacts.output or report.artifacts.code or f"{report.module or 'solution'}.py"
    if inner:
        name = os.path.join(report.artifacts.code or "" if report.change else "", inner)
    path, folder = Path(name), Path.cwd()
    if path.is_absolute() and path.is_relative_to(folder):
        path = path.relative_to(folder)
    return path.as_posix()


def find_issue_path(report: Report, issue: IntegrityFinding) -> str:
    """Return the path of the file with an integrity finding, which in a project begins with it."""
    changed = (item.path for item in report.change.files) if report.change else ()
    return find_code_path(
        report, next((path for path in changed if issue.what.startswith(f"of {path} ")), "")
    )
