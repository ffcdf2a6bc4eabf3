"""One run of the agent from a terminal: shown, delivered, and turned into an exit status."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.agent import CodingAgent, refused
from greenloop.commands.approval import agreed, always
from greenloop.commands.delivering import delivered
from greenloop.commands.printing import print_report
from greenloop.commands.reviewing import Decision, review
from greenloop.commands.running import complain, run_to_end
from greenloop.errors import GreenloopError, InterruptedRunError, OutputError
from greenloop.events import Emit, Event, RunFinished
from greenloop.records import Report
from greenloop.reporting.progress import progress
from greenloop.settings import Settings
from greenloop.way.leaving import reached
from greenloop.way.request import RunRequest
from greenloop.way.run_dir import RunDirectory

Run = Callable[[CodingAgent], Coroutine[Any, Any, Report]]


@dataclass(frozen=True)
class Shown:
    """How a run is told, and whether the person is asked before a file is written."""

    run_dir: Path | None = None
    keep_best: bool = False
    approve: bool = False
    json: bool = False
    quiet: bool = False
    verbose: bool = False


def carry_out(run: Run, request: RunRequest, settings: Settings, shown: Shown) -> int:
    """Runs, delivers what was reached, prints it; the exit status.

    Where the person is asked and wants something else, the run goes on in its directory.
    """
    while True:
        report, broken_off = _ran(run, settings, shown)
        if report is None:
            assert broken_off is not None
            text = request.specification
            return end(refused(settings, text, broken_off, None), broken_off, shown)
        status = 0 if reached(report, settings.require) else 1
        keep = shown.keep_best or request.keep_best
        if isinstance(broken_off, InterruptedRunError) or ((status or broken_off) and not keep):
            return end(report, broken_off, shown, status)
        decision: Decision = "accept"
        try:
            if shown.approve:
                decision = review(report, request, settings)
            if isinstance(decision, RunRequest):
                request, run = decision, _going_on(report, decision)
                continue
            if decision == "accept":
                report = delivered(report, request, agreed if shown.approve else always)
        except GreenloopError as error:
            broken_off = broken_off or error
        if decision == "reject":
            return _rejected(report, shown)
        return end(report, broken_off, shown, status)


def _ran(run: Run, settings: Settings, shown: Shown) -> tuple[Report | None, GreenloopError | None]:
    """The report, where there is one, and why the run broke off, if it did."""
    with progress(quiet=shown.quiet, verbose=shown.verbose) as show:
        last = _Last(show)
        try:
            return run_to_end(run(CodingAgent(settings, emit=last))), None
        except asyncio.CancelledError:
            return last.report, _interrupted(last.report)
        except GreenloopError as error:
            return error.report, error


def _going_on(report: Report, request: RunRequest) -> Run:
    """The run goes on as the person wants it now, and is resumed like that too."""
    directory = RunDirectory.open(Path(str(report.artifacts.run_dir)))
    directory.save_request(request)
    return lambda agent: agent.resume(directory)


def _rejected(report: Report, shown: Shown) -> int:
    """The code itself is not printed either: standard output may be a file."""
    if shown.json:
        print_report(report, as_json=True)
    complain(f"rejected: nothing was written; the code is in {report.artifacts.run_dir}")
    return 1


def end(report: Report, error: GreenloopError | None, shown: Shown, status: int = 1) -> int:
    """Prints what was reached, and the error if there was one; the exit status."""
    try:
        print_report(report, as_json=shown.json)
    except OSError as problem:
        if isinstance(problem, BrokenPipeError):
            raise
        error = error or OutputError(f"standard output cannot be written: {problem.strerror}")
    if error is None:
        return status
    complain(str(error))
    if report.artifacts.report and not shown.json:
        print(f"report: {report.artifacts.report}", file=sys.stderr)
    return error.exit_status


class _Last:
    """Passes events on and keeps the report, which a cancelled run cannot hand back."""

    def __init__(self, show: Emit) -> None:
        self._show = show
        self.report: Report | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunFinished):
            self.report = event.report
        self._show(event)


def _interrupted(report: Report | None) -> InterruptedRunError:
    """What the person is told who stopped a run."""
    run_dir = report.artifacts.run_dir if report else None
    return InterruptedRunError(
        f"interrupted; go on with: greenloop resume {run_dir}" if run_dir else "interrupted"
    )
