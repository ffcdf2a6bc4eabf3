"""The command `check`: grade existing code and tests."""

from __future__ import annotations

from contextlib import ExitStack

from greenloop.app.check import check_files, create_check_directory
from greenloop.app.inputs.check_files import CheckInputs, read_check_inputs
from greenloop.cli.finish import finish_run, load_settings
from greenloop.cli.options.runs import CheckOptions
from greenloop.cli.process import run_with_signals
from greenloop.errors import GreenloopError
from greenloop.events import EventSink
from greenloop.records import Report
from greenloop.reporting.progress.renderer import create_progress
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.workflow.delivery import meets_requirement
from greenloop.workflow.storage.run_dir import RunDirectory


def check_command(options: CheckOptions) -> int:
    """Run `greenloop check` and return the exit status."""
    settings = load_settings(options)
    inputs = read_check_inputs(options.code, options.tests)
    directory = create_check_directory(settings, inputs, options.run_dir)
    with create_progress(quiet=options.quiet, verbose=options.verbose) as progress:
        report, error = run_with_signals(
            _check_in_sandbox(inputs, options, directory, settings, progress)
        )
    status = 0 if meets_requirement(report, settings.require) else 1
    return finish_run(report, error, options, status)


async def _check_in_sandbox(
    inputs: CheckInputs,
    options: CheckOptions,
    directory: RunDirectory,
    settings: Settings,
    emit: EventSink,
) -> tuple[Report, GreenloopError | None]:
    with ExitStack() as stack:

        async def open_box() -> Sandbox:
            return stack.enter_context(open_sandbox(settings))

        return await check_files(inputs, options.code, directory, settings, open_box, emit)
