"""One run of the agent from a terminal: progress, delivery, output and exit status."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from greenloop.agent import CodingAgent
from greenloop.app.requests import build_request, to_absolute_path
from greenloop.cli.approval import Decision, confirm, review
from greenloop.cli.delivery import deliver_report, offer_to_write
from greenloop.cli.finish import finish_run, print_report
from greenloop.cli.options.settings import load_settings
from greenloop.cli.options.shared import NewRunOptions, RunOptions
from greenloop.cli.process import check_terminal, is_terminal, print_error, run_with_signals
from greenloop.cli.questions import create_asker
from greenloop.errors import GreenloopError, InterruptedRunError, NoModelError, OutputError
from greenloop.events import Event, RunFinished
from greenloop.llm.factory import check_models
from greenloop.llm.model_selection import choose_model
from greenloop.records import Report
from greenloop.records.report import meets_requirement
from greenloop.reporting.progress.renderer import create_progress
from greenloop.settings import Settings
from greenloop.workflow.delivery import check_output_paths
from greenloop.workflow.heal.request import HealRequest
from greenloop.workflow.kinds import find_kind, load_request
from greenloop.workflow.make.locked_delivery import FORCE_HINT, find_manual_edits
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.storage.request import ContractRequest, RequestT, RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory

NewOptionsT = TypeVar("NewOptionsT", bound=NewRunOptions)


def check_run(request: RunRequest, options: RunOptions, settings: Settings) -> None:
    """Check terminal, model and output paths before a run starts.

    Raises:
        InputError: an option asks questions, and there is no terminal.
        NoModelError, SettingsError: the named model cannot be used.
        OutputError: an output cannot be written.
    """
    check_output_paths(request)
    if options.approve:
        check_terminal("--approve")
    if settings.ask == "terminal" and isinstance(request, ContractRequest):
        check_terminal("--ask terminal")
    try:
        check_models(settings)
    except NoModelError:
        if request.needs_model:
            raise


def start_run(options: NewOptionsT, build: Callable[[NewOptionsT, Settings], RunRequest]) -> int:
    """Start a run with the request that `build` returns; return the exit status.

    With `--dry-run` only print the expected cost. Raises GreenloopError if the run cannot start.
    """
    settings = load_settings(options)
    request = build(options, settings)
    if getattr(options, "dry_run", False):
        if estimate := find_kind(request).estimate:
            with suppress(NoModelError):
                settings = settings.model_copy(update={"model": choose_model(settings).name})
            found = estimate(request, settings)
            print(json.dumps(asdict(found), indent=1) if options.json else found)
        return 0
    check_run(request, options, settings)
    if isinstance(request, MakeRequest) and not options.approve:
        request = _confirm_replacement(request)
    return run_agent(request, settings, options)


def _confirm_replacement(request: MakeRequest) -> MakeRequest:
    """Ask before any paid call whether edited files may be replaced; else raise OutputError."""
    edit = None if request.force else next(find_manual_edits(request), None)
    if edit is None:
        return request
    if is_terminal() and confirm(f"{edit.why}; overwrite it (a copy is kept)? [y/N] "):
        return request.model_copy(update={"force": True})
    raise OutputError(f"{edit.why}; {FORCE_HINT}")


def build_new_request(
    kind: type[RequestT], options: NewRunOptions, settings: Settings, **fields: Any
) -> RequestT:
    """Return a request with the options that all new runs have."""
    output, record = to_absolute_path(options.output), to_absolute_path(options.record)
    return build_request(kind, settings, output=output, record=record, **fields)


def run_agent(
    request: RunRequest,
    settings: Settings,
    options: RunOptions,
    resume_from: RunDirectory | None = None,
) -> int:
    """Run a request, deliver and print the result, and return the exit status.

    If the user asks for a change at the review, the run continues in its directory. Raises
    GreenloopError if it ends without a report.
    """
    while True:
        report, error = _run_once(request, settings, options, resume_from)
        if report is None:
            assert error is not None
            raise error
        status = 0 if meets_requirement(report, settings.require) else 1
        failed = bool(status or error) and not request.keep_best
        if isinstance(error, InterruptedRunError) or failed:
            return finish_run(report, error, options, status)
        decision: Decision = "accept"
        try:
            if options.approve:
                decision = review(report, request, settings)
            if isinstance(decision, RunRequest):
                request, resume_from = decision, _save_request(report, decision)
                continue
            if decision == "accept":
                report = deliver_report(report, request, is_reviewed=options.approve)
        except GreenloopError as problem:
            error = error or problem
        if decision == "reject":  # print no code: standard output may be redirected to a file
            if options.json:
                print_report(report, options, with_card=False)
            print_error(f"rejected: nothing was written; the code is in {report.artifacts.run_dir}")
            return 1
        is_healed = isinstance(request, HealRequest) and report.final_code != report.original
        is_declined = is_healed and report.artifacts.output is None  # a terminal showed its diff
        status, is_shown = 1 if is_declined else status, is_declined and is_terminal()
        status = finish_run(report, error, options, status, is_shown=is_shown)
        if status == 0 and not (options.json or options.quiet):
            offer_to_write(report, request)
        return status


def _run_once(
    request: RunRequest,
    settings: Settings,
    options: RunOptions,
    resume_from: RunDirectory | None,
) -> tuple[Report | None, GreenloopError | None]:
    """Return the report, if there is one, and the error that ended the run, if any."""
    ended: list[Report] = []  # a cancelled run cannot return its report

    def emit(event: Event) -> None:
        if isinstance(event, RunFinished):
            ended.append(event.report)
        progress(event)

    with create_progress(quiet=options.quiet, verbose=options.verbose) as progress:
        agent = CodingAgent(settings, emit=emit, asker=create_asker(settings, options))
        started = (
            agent.run(request, options.run_dir)
            if resume_from is None
            else agent.resume(resume_from)
        )
        try:
            return run_with_signals(started), None
        except asyncio.CancelledError:
            report = ended[-1] if ended else None
            run_dir = report.artifacts.run_dir if report else None
            hint = f"; resume with: greenloop resume {run_dir}" if run_dir else ""
            return report, InterruptedRunError(f"interrupted{hint}")
        except GreenloopError as error:
            return error.report, error


def _save_request(report: Report, request: RunRequest) -> RunDirectory:
    """Store the changed request in the run's directory, so that a resumed run uses it too.

    The answers that the run itself stored there are kept.
    """
    directory = RunDirectory.open(Path(str(report.artifacts.run_dir)))
    stored = load_request(directory)
    if isinstance(stored, ContractRequest):
        request = request.model_copy(update={"choice_answers": stored.choice_answers})
    directory.save_request(request)
    return directory
