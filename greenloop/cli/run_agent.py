"""One run of the agent from a terminal: shown, delivered, and turned into an exit status."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.agent import CodingAgent, build_refusal_report
from greenloop.cli.approval import Decision, review
from greenloop.cli.confirm import approve_always, approve_reviewed, confirm_write
from greenloop.cli.process import print_error, run_with_signals
from greenloop.errors import GreenloopError, InterruptedRunError, OutputError
from greenloop.events import Event, EventSink, RunFinished
from greenloop.records import Report
from greenloop.reporting.progress.renderer import create_progress
from greenloop.reporting.summary import as_comments, diff_healed_code, summarize_report
from greenloop.settings import Settings
from greenloop.workflow.delivery import (
    Approve,
    deliver,
    deliver_healed_file,
    deliver_script,
    meets_requirement,
)
from greenloop.workflow.storage.request import HealRequest, RunRequest, ScriptRequest
from greenloop.workflow.storage.run_dir import RunDirectory

RunStarter = Callable[[CodingAgent], Coroutine[Any, Any, Report]]


@dataclass(frozen=True)
class OutputOptions:
    """How a run is told, and whether the person is asked before a file is written."""

    run_dir: Path | None = None
    keep_best: bool = False
    approve: bool = False
    json: bool = False
    quiet: bool = False
    verbose: bool = False


def run_agent(
    start: RunStarter, request: RunRequest, settings: Settings, options: OutputOptions
) -> int:
    """Runs, delivers what was reached, prints it; the exit status.

    Where the person is asked and wants something else, the run goes on in its directory.
    """
    while True:
        report, broken_off = _run_once(start, settings, options)
        if report is None:
            assert broken_off is not None
            text = request.specification
            return finish_run(
                build_refusal_report(settings, text, broken_off, None), broken_off, options
            )
        status = 0 if meets_requirement(report, settings.require) else 1
        keep = options.keep_best or request.keep_best
        if isinstance(broken_off, InterruptedRunError) or ((status or broken_off) and not keep):
            return finish_run(report, broken_off, options, status)
        decision: Decision = "accept"
        try:
            if options.approve:
                decision = review(report, request, settings)
            if isinstance(decision, RunRequest):
                request, start = decision, _resume_with(report, decision)
                continue
            if decision == "accept":
                report = deliver_report(
                    report, request, approve_reviewed if options.approve else approve_always
                )
        except GreenloopError as error:
            broken_off = broken_off or error
        if decision == "reject":
            return _report_rejection(report, options)
        return finish_run(report, broken_off, options, status)


def _run_once(
    start: RunStarter, settings: Settings, options: OutputOptions
) -> tuple[Report | None, GreenloopError | None]:
    """The report, where there is one, and why the run broke off, if it did."""
    with create_progress(quiet=options.quiet, verbose=options.verbose) as show:
        last = _ReportCapture(show)
        try:
            return run_with_signals(start(CodingAgent(settings, emit=last))), None
        except asyncio.CancelledError:
            return last.report, _build_interrupted_error(last.report)
        except GreenloopError as error:
            return error.report, error


def _resume_with(report: Report, request: RunRequest) -> RunStarter:
    """The run goes on as the person wants it now, and is resumed like that too."""
    directory = RunDirectory.open(Path(str(report.artifacts.run_dir)))
    directory.save_request(request)
    return lambda agent: agent.resume(directory)


def _report_rejection(report: Report, options: OutputOptions) -> int:
    """The code itself is not printed either: standard output may be a file."""
    if options.json:
        print_report(report, as_json=True)
    print_error(f"rejected: nothing was written; the code is in {report.artifacts.run_dir}")
    return 1


def finish_run(
    report: Report, error: GreenloopError | None, options: OutputOptions, status: int = 1
) -> int:
    """Prints what was reached, and the error if there was one; the exit status."""
    try:
        print_report(report, as_json=options.json)
    except OSError as problem:
        if isinstance(problem, BrokenPipeError):
            raise
        error = error or OutputError(f"standard output cannot be written: {problem.strerror}")
    if error is None:
        return status
    print_error(str(error))
    if report.artifacts.report and not options.json:
        print(f"report: {report.artifacts.report}", file=sys.stderr)
    return error.exit_status


class _ReportCapture:
    """Passes events on and keeps the report, which a cancelled run cannot hand back."""

    def __init__(self, sink: EventSink) -> None:
        self._sink = sink
        self.report: Report | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunFinished):
            self.report = event.report
        self._sink(event)


def _build_interrupted_error(report: Report | None) -> InterruptedRunError:
    """What the person is told who stopped a run."""
    run_dir = report.artifacts.run_dir if report else None
    return InterruptedRunError(
        f"interrupted; go on with: greenloop resume {run_dir}" if run_dir else "interrupted"
    )


def deliver_report(report: Report, request: RunRequest, approve: Approve) -> Report:
    """The report, with the places of what was written. Raises OutputError."""
    if not report.artifacts.run_dir:
        return report
    directory = RunDirectory(Path(report.artifacts.run_dir))
    if isinstance(request, ScriptRequest):
        report = deliver_script(report, request, approve)
    elif isinstance(request, HealRequest):
        sure = (
            approve
            if request.write or request.output or approve is approve_reviewed
            else _confirm_overwrite
        )
        report = deliver_healed_file(report, request, sure, directory)
    else:
        report = deliver(report, request, approve)
    directory.save_report(report)
    return report


def _confirm_overwrite(path: Path, text: str) -> bool:
    """Somebody's file is written over only if he says so: `--yes`, or at a terminal."""
    if sys.stdin.isatty() and sys.stderr.isatty():
        return confirm_write(path, text)
    print_error(f"healed, but {path} was not written: --yes writes it without a question")
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
        sys.stderr.write("".join(f"{line}\n" for line in summarize_report(report)))
    elif report.command == "heal":
        sys.stdout.write(diff_healed_code(report))
        sys.stdout.write(as_comments(summarize_report(report)))
    elif report.final_code:
        sys.stdout.write(report.final_code.rstrip("\n") + "\n\n")
        sys.stdout.write(as_comments(summarize_report(report)))
    sys.stdout.flush()
