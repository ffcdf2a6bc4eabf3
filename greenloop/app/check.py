"""What `check` shares with the integrations: its run directory, its run, its saved report."""

from __future__ import annotations

from pathlib import Path

from greenloop.app.check_report import CheckState, run_check
from greenloop.app.inputs.check_files import CheckInputs
from greenloop.errors import GreenloopError, OutputError
from greenloop.events import EventSink, RunStarted
from greenloop.records import Artifacts, Report
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.workflow.report_builder import greenloop_version
from greenloop.workflow.storage.request import GivenTests, RunRequest, select_saved_options
from greenloop.workflow.storage.run_dir import RunDirectory


async def run_check_with_events(
    sandbox: Sandbox, check: CheckState, run_dir: str, emit: EventSink
) -> None:
    """Runs and grades in `box`, and tells of it. Raises as `run_check` does."""
    check.sandbox = info = sandbox.info
    emit(RunStarted("none: nothing is asked of one", info.backend, info.isolation, run_dir))
    await run_check(sandbox, check, emit)


def create_check_directory(
    settings: Settings, inputs: CheckInputs, run_dir: Path | None
) -> RunDirectory:
    """A run directory that `report` finds; the request in it has no specification."""
    name = f"check {inputs.module}"
    directory = RunDirectory.create(settings.home, name, run_dir)
    given = tuple(GivenTests.from_code(item.name, item.code) for item in inputs.tests)
    directory.save_request(
        RunRequest(
            kind="check",
            specification="",
            module=inputs.module,
            given=given,
            options=select_saved_options(settings),
            greenloop=greenloop_version(),
        )
    )
    return directory


def save_check(
    report: Report, directory: RunDirectory, code: Path, error: GreenloopError | None
) -> tuple[Report, GreenloopError | None]:
    """The report with its places, saved; the error, which may be that it could not be."""
    places = Artifacts(
        run_dir=str(directory.path),
        report=str(directory.report_file),
        html=str(directory.html_file),
        code=str(code),
    )
    report = report.model_copy(update={"artifacts": places})
    try:
        directory.save_report(report)
    except OutputError as problem:
        error = error or problem
    return report, error
