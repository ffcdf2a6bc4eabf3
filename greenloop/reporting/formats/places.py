"""Where the code of a report is."""

from __future__ import annotations

from pathlib import Path

from greenloop.records import Report


def find_code_path(report: Report) -> str:
    """Return the path of the code's file, relative to the working folder where it is below it."""
    name = report.artifacts.output or report.artifacts.code or f"{report.module or 'solution'}.py"
    path, folder = Path(name), Path.cwd()
    if path.is_absolute() and path.is_relative_to(folder):
        path = path.relative_to(folder)
    return path.as_posix()
