"""`check`: grades code and tests that are there already."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.app.check import (
    create_check_directory,
    run_check_with_events,
    save_check,
    start_check,
)
from greenloop.app.inputs.check_files import read_check_inputs
from greenloop.cli.process import print_error, run_with_signals
from greenloop.errors import GreenloopError, InterruptedRunError, OutputError
from greenloop.events import EventSink, RunFinished
from greenloop.grading import Plan
from greenloop.records import Report, SandboxInfo
from greenloop.reporting.evidence.text import render_grade
from greenloop.reporting.progress.renderer import create_progress
from greenloop.sandbox import open_sandbox
from greenloop.settings import Settings
from greenloop.tracing.setup import trace_run
from greenloop.workflow.delivery import meets_requirement
from greenloop.workflow.report_builder import build_report
from greenloop.workflow.state import RunState


@dataclass(frozen=True)
class CheckOptions:
    """What is typed besides the settings."""

    run_dir: Path | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False


def check_command(
    code: Path, tests: Sequence[Path], options: CheckOptions, flags: dict[str, Any]
) -> int:
    """`greenloop check`: the exit status."""
    try:
        settings = Settings.load(**flags)
        checked = read_check_inputs(code, tests)
        directory = create_check_directory(settings, checked, options.run_dir)
    except GreenloopError as error:
        print_error(str(error))
        return error.exit_status
    check = start_check(
        module=checked.module,
        code=checked.code,
        tests=checked.tests,
        plan=Plan.from_settings(settings),
        sandbox=SandboxInfo(backend=settings.sandbox, isolation="not opened"),
    )
    broken_off: GreenloopError | None = None
    with create_progress(quiet=options.quiet, verbose=options.verbose) as show:
        try:
            run_with_signals(_execute_check(check, settings, str(directory.path), show))
        except (asyncio.CancelledError, KeyboardInterrupt):
            broken_off = InterruptedRunError("interrupted; nothing is kept to go on with")
        except GreenloopError as error:
            broken_off = error
    report, broken_off = save_check(build_report(check, broken_off), directory, code, broken_off)
    return _finish_check(
        report, broken_off, options, 0 if meets_requirement(report, settings.require) else 1
    )


async def _execute_check(
    check: RunState, settings: Settings, run_dir: str, sink: EventSink
) -> Report:
    async with trace_run(sink) as emit:
        with open_sandbox(settings) as box:
            await run_check_with_events(box, check, run_dir, emit)
        report = build_report(check)
        emit(RunFinished(report))
        return report


def _finish_check(
    report: Report, error: GreenloopError | None, options: CheckOptions, status: int
) -> int:
    """Prints the grade, and the error if there was one; the exit status."""
    try:
        sys.stdout.write(
            report.model_dump_json(indent=1) + "\n" if options.json else render_grade(report)
        )
        sys.stdout.flush()
    except OSError as problem:
        if isinstance(problem, BrokenPipeError):
            raise
        error = error or OutputError(f"standard output cannot be written: {problem.strerror}")
    if error is None:
        return status
    with suppress(OSError):
        print_error(str(error))
    return error.exit_status
