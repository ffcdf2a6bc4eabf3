"""The command `resume`: continue an interrupted run."""

from typing import Any

from greenloop.app.inputs.specification import add_answers
from greenloop.app.run_list import find_interrupted_run
from greenloop.cli.options.runs import ResumeOptions
from greenloop.cli.process import print_error
from greenloop.cli.run_agent import check_run, run_agent
from greenloop.errors import InputError
from greenloop.reporting.loader import read_report
from greenloop.settings import Settings
from greenloop.versions import greenloop_version
from greenloop.workflow.change.request import ChangeRequest
from greenloop.workflow.heal.request import HealRequest
from greenloop.workflow.kinds import load_request
from greenloop.workflow.storage.request import ContractRequest, RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory


def resume_command(options: ResumeOptions) -> int:
    """Run `greenloop resume` and return the exit status. Raises GreenloopError if it cannot begin."""
    has_answers = bool(options.answers) or options.accept_choices
    found = options.run_dir or find_interrupted_run(Settings.load().home, has_answers=has_answers)
    directory = RunDirectory.open(found)
    request = load_request(directory)
    if not (request.specification or isinstance(request, HealRequest)):
        raise InputError(
            f"{directory.path} is the run of a check, which cannot be resumed; run the check again"
        )
    request = request.model_copy(update={"keep_best": request.keep_best or options.keep_best})
    settings = Settings.load(**request.options | _select_given_settings(request, options))
    check_run(request, options, settings)
    _answer_choices(directory, options)
    if request.greenloop != greenloop_version():
        print_error(
            f"this run was started by greenloop {request.greenloop}; some answers may be paid for again"
        )
    return run_agent(request, settings, options, directory)


def _answer_choices(directory: RunDirectory, options: ResumeOptions) -> None:
    """Store the answers to choices of the run's report in its request. Raises InputError."""
    request = load_request(directory)
    if not isinstance(request, ContractRequest) or not (options.answers or options.accept_choices):
        return
    report = read_report(directory.path) if directory.report_file.exists() else None
    choices = report.contract.choices if report and report.contract else ()
    # A change is written again from its answers, even if it has code.
    has_code = bool(report and report.attempts) and not isinstance(request, ChangeRequest)
    accept = options.accept_choices
    request, why = add_answers(request, choices, options.answers, accept=accept, has_code=has_code)
    directory.save_request(request)
    if why:
        print_error(why)


def _select_given_settings(request: RunRequest, options: ResumeOptions) -> dict[str, Any]:
    """Return the settings that were given now; packages are added to those allowed before."""
    allowed = (request.options.get("allow_package"), options.given.get("allow_package"))
    return {**options.given, "allow_package": ",".join(str(item) for item in allowed if item)}
