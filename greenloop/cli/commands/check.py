"""`check`: grades code and tests that are there already."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.app.check import begin_check, check_directory, saved_check
from greenloop.app.check_report import Check, check_report
from greenloop.app.inputs.check_files import read_checked
from greenloop.cli.process import complain, run_to_end
from greenloop.errors import GreenloopError, InterruptedRunError, OutputError
from greenloop.events import Emit, RunFinished
from greenloop.grading import Plan
from greenloop.records import Report, SandboxInfo
from greenloop.reporting.evidence.text import grade_text
from greenloop.reporting.progress.renderer import progress
from greenloop.sandbox import open_sandbox
from greenloop.settings import Settings
from greenloop.tracing.setup import traced
from greenloop.workflow.delivery import reached


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
        checked = read_checked(code, tests)
        directory = check_directory(settings, checked, options.run_dir)
    except GreenloopError as error:
        complain(str(error))
        return error.exit_status
    check = Check(
        module=checked.module,
        code=checked.code,
        tests=checked.tests,
        plan=Plan.of(settings),
        sandbox=SandboxInfo(backend=settings.sandbox, isolation="not opened"),
    )
    broken_off: GreenloopError | None = None
    with progress(quiet=options.quiet, verbose=options.verbose) as show:
        try:
            run_to_end(_checked(check, settings, str(directory.path), show))
        except (asyncio.CancelledError, KeyboardInterrupt):
            broken_off = InterruptedRunError("interrupted; nothing is kept to go on with")
        except GreenloopError as error:
            broken_off = error
    report, broken_off = saved_check(check_report(check, broken_off), directory, code, broken_off)
    return _end(report, broken_off, options, 0 if reached(report, settings.require) else 1)


async def _checked(check: Check, settings: Settings, run_dir: str, show: Emit) -> Report:
    async with traced(show) as emit:
        with open_sandbox(settings) as box:
            await begin_check(box, check, run_dir, emit)
        report = check_report(check)
        emit(RunFinished(report))
        return report


def _end(report: Report, error: GreenloopError | None, options: CheckOptions, status: int) -> int:
    """Prints the grade, and the error if there was one; the exit status."""
    try:
        sys.stdout.write(
            report.model_dump_json(indent=1) + "\n" if options.json else grade_text(report)
        )
        sys.stdout.flush()
    except OSError as problem:
        if isinstance(problem, BrokenPipeError):
            raise
        error = error or OutputError(f"standard output cannot be written: {problem.strerror}")
    if error is None:
        return status
    with suppress(OSError):
        complain(str(error))
    return error.exit_status
