"""One run of the agent from a terminal: shown, delivered, and turned into an exit status."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.agent import CodingAgent, refused
from greenloop.cli.approval import Decision, review
from greenloop.cli.confirm import agreed, always, ask
from greenloop.cli.process import complain, run_to_end
from greenloop.errors import GreenloopError, InterruptedRunError, OutputError
from greenloop.events import Emit, Event, RunFinished
from greenloop.records import Report
from greenloop.reporting.progress.renderer import progress
from greenloop.reporting.summary import as_comments, healed_diff, short_verdict
from greenloop.settings import Settings
from greenloop.workflow.delivery import (
    Approve,
    deliver,
    hand_over_healed,
    hand_over_script,
    reached,
)
from greenloop.workflow.storage.request import RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory

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


def delivered(report: Report, request: RunRequest, approve: Approve) -> Report:
    """The report, with the places of what was written. Raises OutputError."""
    if not report.artifacts.run_dir:
        return report
    directory = RunDirectory(Path(report.artifacts.run_dir))
    if request.kind == "script":
        report = hand_over_script(report, request, approve)
    elif request.kind == "heal":
        sure = approve if request.write or request.output or approve is agreed else _if_asked
        report = hand_over_healed(report, request, sure, directory)
    else:
        report = deliver(report, request, approve)
    directory.save_report(report)
    return report


def _if_asked(path: Path, text: str) -> bool:
    """Somebody's file is written over only if he says so: `--yes`, or at a terminal."""
    if sys.stdin.isatty() and sys.stderr.isatty():
        return ask(path, text)
    complain(f"healed, but {path} was not written: --yes writes it without a question")
    return False


def print_report(report: Report, *, as_json: bool) -> None:
    """The report, or: the code; of a script its output; of what was healed the change to it.

    Where standard output is a script's, the verdict goes to standard error.
    """
    if as_json:
        print(report.model_dump_json(indent=1))
    elif report.command == "script":
        sys.stdout.write(report.script.stdout if report.script else "")
        sys.stdout.flush()
        sys.stderr.write("".join(f"{line}\n" for line in short_verdict(report)))
    elif report.command == "heal":
        sys.stdout.write(healed_diff(report))
        sys.stdout.write(as_comments(short_verdict(report)))
    elif report.final_code:
        sys.stdout.write(report.final_code.rstrip("\n") + "\n\n")
        sys.stdout.write(as_comments(short_verdict(report)))
    sys.stdout.flush()
