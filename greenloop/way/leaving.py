"""What a run leaves in its directory, and what it writes where the person asked for it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from greenloop.errors import OutputError
from greenloop.records import Artifacts, Report
from greenloop.way.request import RunRequest
from greenloop.way.run_dir import RunDirectory, write_atomically

Approve = Callable[[Path, str], bool]


def with_artifacts(
    report: Report, directory: RunDirectory, record: str | None, code_name: str = ""
) -> Report:
    """The report with the best code and its tests saved in the run directory.

    Raises:
        OutputError: the run directory does not take them.
    """
    files: dict[str, str] = {}
    module = report.contract.module if report.contract else "solution"
    if report.final_code:
        files[code_name or f"{module}.py"] = report.final_code
    if report.test_code.strip():
        files[_tests_name(report, module)] = report.test_code
    directory.save_best(files)
    paths = [str(directory.best / name) for name in files]
    artifacts = Artifacts(
        run_dir=str(directory.path),
        report=str(directory.report_file),
        html=str(directory.page),
        answers=str(directory.answers) if directory.answers.exists() else None,
        best_code=paths[0] if report.final_code else None,
        best_tests=paths[-1] if report.test_code.strip() else None,
        record=record,
    )
    return report.model_copy(update={"artifacts": artifacts})


def _tests_name(report: Report, module: str) -> str:
    """The generated file's name: that under which it ran."""
    own = (item.id.partition("::")[0] for item in report.tests if item.origin != "given")
    return next((name for name in own if name.endswith(".py")), f"test_{module}.py")


def reached(report: Report, require: Literal["verified", "passed"]) -> bool:
    """Whether the verdict is at least what is required."""
    return report.verdict == "verified" or (require == "passed" and report.verdict == "passed")


def check_outputs(request: RunRequest) -> None:
    """Before anything is paid for: can the results be written where they are asked for?

    Raises:
        OutputError: a folder is missing and cannot be made, or a file cannot be written.
    """
    for name, flag in ((request.output, "--output"), (request.tests_output, "--tests-output")):
        if name is None:
            continue
        path = Path(name)
        if path.is_dir():
            raise OutputError(f"{flag} {path} is a folder; name a file in it")
        place = path if path.exists() else _nearest(path)
        if not path.exists() and not place.is_dir():
            raise OutputError(f"{flag} {path} cannot be written: {place} is no folder")
        if not os.access(place, os.W_OK):
            raise OutputError(f"{flag} {path} cannot be written: no permission for {place}")
        if place.is_dir():
            _probe(place, f"{flag} {path}")


def _nearest(path: Path) -> Path:
    """The nearest thing above `path` that is there: the folders below it are made when needed."""
    return next(parent for parent in path.absolute().parents if parent.exists())


def _probe(folder: Path, what: str) -> None:
    """Permission bits do not tell of read-only and special file systems: a file does."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return
    except OSError as error:
        raise OutputError(f"{what} cannot be written: {error.strerror or error}") from None


def deliver(report: Report, request: RunRequest, approve: Approve) -> Report:
    """Writes code and tests where they were asked for, each only if `approve` says so.

    Raises:
        OutputError: a file cannot be written.
    """
    written: dict[str, str] = {}
    places = (
        ("output", request.output, report.final_code),
        ("tests_output", tests_place(request), report.test_code),
    )
    for key, name, text in places:
        if name is not None and text.strip() and approve(Path(name), text):
            write_atomically(Path(name), text)
            written[key] = name
    return report.model_copy(update={"artifacts": report.artifacts.model_copy(update=written)})


def tests_place(request: RunRequest) -> str | None:
    """`--tests-output`, else beside the code, under a name that no file of the person's has."""
    if request.tests_output is not None or request.output is None:
        return request.tests_output
    output = Path(request.output)
    name = f"test_{output.stem}.py"
    if any(item.name == name for item in request.given):
        name = f"test_{output.stem}_generated.py"
    return str(output.with_name(name))
