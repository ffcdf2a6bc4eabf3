"""Delivery: files saved in the run directory, and written where the user asked for them."""

import os
import shutil
import tempfile
from pathlib import Path

from greenloop.errors import OutputError
from greenloop.files import writing
from greenloop.records import Artifacts, Report
from greenloop.records.report import NOT_KEPT
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.choices_file import save_choices
from greenloop.workflow.storage.request import RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory, write_atomically


def save_artifacts(
    report: Report, directory: RunDirectory, record: str | None, code_name: str = ""
) -> Report:
    """Save the best code and its tests in the run directory; return the report with their paths.

    Raises OutputError: they cannot be written.
    """
    files: dict[str, str] = {}
    module = report.contract.module if report.contract else "solution"
    if report.final_code:
        files[code_name or f"{module}.py"] = report.final_code
    if report.test_code.strip():
        ran = (item.id.partition("::")[0] for item in report.tests if item.origin != "given")
        name = next((name for name in ran if name.endswith(".py")), f"test_{module}.py")
        files[name] = report.test_code
    directory.save_best(files)
    path, contract = directory.choices_file, report.contract
    has_choices = contract is not None and save_choices(path, contract.open_choices)
    paths = [str(directory.best_dir / name) for name in files]
    artifacts = Artifacts(
        run_dir=str(directory.path),
        report=str(directory.report_file),
        html=str(directory.html_file),
        answers=str(directory.answers_file) if directory.answers_file.exists() else None,
        best_code=paths[0] if report.final_code else None,
        best_tests=paths[-1] if report.test_code.strip() else None,
        record=record,
        choices=str(path) if has_choices else None,
    )
    return report.model_copy(update={"artifacts": artifacts})


def check_output_paths(request: RunRequest) -> None:
    """Check that the outputs can be written, before a model call is paid for.

    Raises OutputError: a folder is missing and cannot be created, or a file cannot be written.
    """
    for name, flag in ((request.output, "--output"), (request.tests_output, "--tests-output")):
        if name is None:
            continue
        path = Path(name)
        with writing(f"{flag} {name}"):
            is_folder = path.is_dir()  # an OSError if the name is too long
        if is_folder:
            raise OutputError(f"{flag} {path} is a folder; name a file in it")
        # Folders that are missing below the nearest parent are created when needed.
        place = next(item for item in (path, *path.absolute().parents) if item.exists())
        if not path.exists() and not place.is_dir():
            raise OutputError(f"{flag} {path} cannot be written: {place} is not a folder")
        if not os.access(place, os.W_OK):
            raise OutputError(f"{flag} {path} cannot be written: no permission for {place}")
        if place.is_dir():
            _check_folder_writable(place, f"{flag} {path}")


def _check_folder_writable(folder: Path, what: str) -> None:
    """Check by a temporary file, as permission bits do not show a read-only file system."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return
    except OSError:
        raise OutputError(
            f"{what} cannot be written: no file can be created in {folder}; choose another folder"
        ) from None


def deliver(report: Report, request: RunRequest) -> Report:
    """Write code and tests to their outputs. Raises OutputError: a file cannot be written."""
    written: dict[str, str] = {}
    places = (
        ("output", request.output, report.final_code),
        ("tests_output", resolve_tests_output(request), report.test_code),
    )
    for key, name, text in places:
        if name is not None and text.strip():
            write_atomically(Path(name), text)
            written[key] = name
    return with_artifacts(report, **written)


def resolve_tests_output(request: RunRequest) -> str | None:
    """Return `--tests-output`, or a path beside the code that no test of the user has."""
    if request.tests_output is not None or request.output is None:
        return request.tests_output
    output = Path(request.output)
    name = f"test_{output.stem}.py"
    if any(item.name == name for item in request.given):
        name = f"test_{output.stem}_generated.py"
    return str(output.with_name(name))


def save_produced_files(report: Report, directory: RunDirectory, state: RunState) -> Report:
    """Save the files that the script produced in the run directory.

    Raises OutputError: they cannot be written.
    """
    result = state.best_script_run
    if result is None or not result.made:
        return report
    folder = directory.best_dir / "made"
    with writing(folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for item in result.made:
            if item.content is not None:
                path = folder / item.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(item.content)
    return with_artifacts(report, made=str(folder))


def deliver_produced_files(report: Report, folder: str | None, directory: RunDirectory) -> Report:
    """Copy the files that a script produced to `--artifacts`.

    Files that are overwritten are copied to the run directory first.
    Raises OutputError: the folder cannot be written, or some of the files were not kept.
    """
    if folder is None or not report.artifacts.made:
        return report
    made = Path(report.artifacts.made)
    try:
        for path in (item.relative_to(made) for item in made.rglob("*") if item.is_file()):
            old = Path(folder, path)
            if old.is_file() and old.read_bytes() != (made / path).read_bytes():
                back_up_original(directory, old, f"replaced/{path}")
        shutil.copytree(report.artifacts.made, folder, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        raise OutputError(f"--artifacts {folder} cannot be written: {error}") from None
    if lost := next((item for item in report.reasons if item.startswith(NOT_KEPT)), ""):
        raise OutputError(f"--artifacts {folder} is not complete: {lost}")
    return with_artifacts(report, made=folder)


def with_artifacts(report: Report, **paths: str) -> Report:
    return report.model_copy(update={"artifacts": report.artifacts.model_copy(update=paths)})


def back_up_original(directory: RunDirectory, path: Path, name: str = "") -> Path:
    """Keep a copy of a file in the run directory, and return its path. Raises OutputError."""
    kept = directory.path / "original" / (name or path.name)
    with writing(kept):
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, kept)
    return kept
