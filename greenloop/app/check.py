"""What `check` shares with the integrations: its run directory, its run, its saved report."""

from __future__ import annotations

from pathlib import Path

from greenloop.app.check_report import Check, run_check
from greenloop.app.inputs.check_files import Checked
from greenloop.errors import GreenloopError, OutputError
from greenloop.events import Emit, RunStarted
from greenloop.records import Artifacts, Report
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.workflow.report_builder import own_version
from greenloop.workflow.storage.request import GivenTests, RunRequest, kept_options
from greenloop.workflow.storage.run_dir import RunDirectory


async def begin_check(box: Sandbox, check: Check, run_dir: str, emit: Emit) -> None:
    """Runs and grades in `box`, and tells of it. Raises as `run_check` does."""
    check.sandbox = info = box.info
    emit(RunStarted("none: nothing is asked of one", info.backend, info.isolation, run_dir))
    await run_check(box, check, emit)


def check_directory(settings: Settings, checked: Checked, run_dir: Path | None) -> RunDirectory:
    """A run directory that `report` finds; the request in it has no specification."""
    name = f"check {checked.module}"
    directory = RunDirectory.create(settings.home, name, run_dir)
    given = tuple(GivenTests.of(item.name, item.code) for item in checked.tests)
    directory.save_request(
        RunRequest(
            kind="check",
            specification="",
            module=checked.module,
            given=given,
            options=kept_options(settings),
            greenloop=own_version(),
        )
    )
    return directory


def saved_check(
    report: Report, directory: RunDirectory, code: Path, error: GreenloopError | None
) -> tuple[Report, GreenloopError | None]:
    """The report with its places, saved; the error, which may be that it could not be."""
    places = Artifacts(
        run_dir=str(directory.path),
        report=str(directory.report_file),
        html=str(directory.page),
        code=str(code),
    )
    report = report.model_copy(update={"artifacts": places})
    try:
        directory.save_report(report)
    except OutputError as problem:
        error = error or problem
    return report, error
