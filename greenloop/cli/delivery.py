"""Delivery of a run's files from a terminal: at its end, or later by `report --write`."""

import sys
from pathlib import Path

from greenloop.cli.approval import confirm, confirm_patch, confirm_write
from greenloop.cli.process import is_terminal, print_error
from greenloop.errors import GreenloopError, InputError
from greenloop.records import Report
from greenloop.reporting.loader import read_report
from greenloop.reporting.summary import shorten_path
from greenloop.workflow.delivery import check_output_paths
from greenloop.workflow.kind import Consent
from greenloop.workflow.kinds import find_kind, load_request
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.storage.request import RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory


def deliver_report(report: Report, request: RunRequest, *, is_reviewed: bool) -> Report:
    """Write the outputs; return the report with their paths. Raises OutputError."""
    if not report.artifacts.run_dir:
        return report
    directory = RunDirectory(Path(report.artifacts.run_dir))
    return _deliver(report, request, directory, is_reviewed=is_reviewed)


def _deliver(
    report: Report, request: RunRequest, directory: RunDirectory, *, is_reviewed: bool
) -> Report:
    patch = confirm_patch if is_terminal() else None
    consent = Consent(is_reviewed, _confirm_overwrite, patch, print_error)
    report = find_kind(request).deliver(report, request, directory, consent)
    directory.save_report(report)
    return report


def offer_to_write(report: Report, request: RunRequest) -> None:
    """Ask at a terminal whether to write code and tests here if `--output` was not given."""
    best = report.artifacts.best_code
    if not isinstance(request, MakeRequest) or request.output or not best:
        return
    if not (is_terminal() and sys.stdout.isatty()):  # redirected: the code is there already
        return
    if confirm(f"write {Path(best).name} and its tests into this folder? [y/N] "):
        try:
            _write_into(Path(), report, request, RunDirectory(Path(str(report.artifacts.run_dir))))
        except GreenloopError as error:
            print_error(str(error))


def write_run(folder: Path, run_dir: Path) -> Report:
    """Write code, tests and lock file of a run into a folder.

    Raises:
        InputError: the run does not make a module, or has no code.
        OutputError: a file cannot be written, or was edited by hand.
    """
    directory = RunDirectory.open(run_dir)
    request, report = load_request(directory), read_report(run_dir)
    if not isinstance(request, MakeRequest) or not report.artifacts.best_code:
        raise InputError(
            f"--write: the run {run_dir} has no module; name a run of `greenloop make`"
        )
    return _write_into(folder, report, request, directory)


def _write_into(
    folder: Path, report: Report, request: MakeRequest, directory: RunDirectory
) -> Report:
    output = (folder / Path(str(report.artifacts.best_code)).name).absolute()
    placed = request.model_copy(update={"output": str(output)})
    check_output_paths(placed)
    report = _deliver(report, placed, directory, is_reviewed=False)
    for path in filter(None, (report.artifacts.output, report.artifacts.tests_output)):
        print_error(f"wrote {shorten_path(path)}")
    return report


def _confirm_overwrite(path: Path, text: str) -> bool:
    """Return whether the user at a terminal lets a healed file be overwritten; else False."""
    if is_terminal():
        return confirm_write(path, text)
    print_error(f"{path} was healed and not written; --yes writes it without asking")
    return False
