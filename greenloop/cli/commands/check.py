"""The command `check`: grade existing code and tests."""

from __future__ import annotations

import asyncio

from greenloop.app.check import (
    create_check_directory,
    run_check_with_events,
    save_check,
    start_check,
)
from greenloop.app.inputs.check_files import read_check_inputs
from greenloop.cli.finish import finish_run, load_settings
from greenloop.cli.options.runs import CheckOptions
from greenloop.cli.process import print_error, run_with_signals
from greenloop.dependencies import PackageResolver
from greenloop.errors import GreenloopError, InterruptedRunError
from greenloop.events import EventSink, RunFinished
from greenloop.grading import Plan
from greenloop.records import Report, SandboxInfo
from greenloop.reporting.progress.renderer import create_progress
from greenloop.sandbox import open_sandbox
from greenloop.settings import Settings
from greenloop.tracing.setup import trace_run
from greenloop.workflow.delivery import meets_requirement
from greenloop.workflow.report_builder import build_report
from greenloop.workflow.state import RunState


def check_command(options: CheckOptions) -> int:
    """Run `greenloop check` and return the exit status."""
    try:
        settings = load_settings(options)
        inputs = read_check_inputs(options.code, options.tests)
        directory = create_check_directory(settings, inputs, options.run_dir)
    except GreenloopError as error:
        print_error(str(error))
        return error.exit_status
    check = start_check(
        module=inputs.module,
        code=inputs.code,
        tests=inputs.tests,
        plan=Plan.from_settings(settings),
        sandbox=SandboxInfo(backend=settings.sandbox, isolation="not opened"),
    )
    failure: GreenloopError | None = None
    with create_progress(quiet=options.quiet, verbose=options.verbose) as progress:
        try:
            run_with_signals(_execute_check(check, settings, str(directory.path), progress))
        except (asyncio.CancelledError, KeyboardInterrupt):
            failure = InterruptedRunError("interrupted; a check cannot be resumed: run it again")
        except GreenloopError as error:
            failure = error
    report = build_report(check, failure)
    report, failure = save_check(report, directory, options.code, failure)
    status = 0 if meets_requirement(report, settings.require) else 1
    return finish_run(report, failure, options, status)


async def _execute_check(
    check: RunState, settings: Settings, run_dir: str, sink: EventSink
) -> Report:
    async with trace_run(sink) as emit:
        with open_sandbox(settings) as sandbox:
            await run_check_with_events(
                sandbox, check, run_dir, emit, PackageResolver(settings.allow_list)
            )
        report = build_report(check)
        emit(RunFinished(report))
        return report
