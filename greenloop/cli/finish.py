"""Settings of a command, the output of its report, and its exit status; no model is loaded."""

from __future__ import annotations

import logging
import sys

from greenloop.cli.options.common import DisplayOptions
from greenloop.cli.options.declaration import collect_settings
from greenloop.cli.process import print_error, write_program_text
from greenloop.configuration import PROJECT_FILE, read_project_settings
from greenloop.errors import GreenloopError, OutputError, SandboxError
from greenloop.records import Report
from greenloop.reporting.escaping import escape_invisible
from greenloop.reporting.evidence.text import render_grade
from greenloop.reporting.summary import as_comments, diff_healed_code, summarize_report
from greenloop.settings import Settings


def load_settings(options: object) -> Settings:
    """Return the settings with a command's options over them; warn of those that are ignored.

    Raises:
        SettingsError: a setting is invalid.
    """
    logging.getLogger("dotenv.main").disabled = True  # what it would say is in the warnings
    for line in Settings.find_ignored():
        print_error(f"warning: {line}")
    if packages := read_project_settings(lambda _: 0).get("allow_package"):
        print_error(f"{PROJECT_FILE} allows the packages {packages}")
    return Settings.load(**collect_settings(options))


def finish_run(
    report: Report, error: GreenloopError | None, options: DisplayOptions, status: int = 1
) -> int:
    """Print the report, and the error if there is one; return the exit status."""
    try:
        if options.json or report.command != "check" or not isinstance(error, SandboxError):
            print_report(report, as_json=options.json)
    except OSError as problem:
        if isinstance(problem, BrokenPipeError):
            raise
        error = error or OutputError(f"standard output cannot be written: {problem.strerror}")
    if error is None:
        return status
    print_error(str(error))
    if report.artifacts.report and not options.json and report.command != "check":
        print(f"report: {report.artifacts.report}", file=sys.stderr)
    return error.exit_status


def print_report(report: Report, *, as_json: bool) -> None:
    """Print the report as JSON, or its main result.

    That is the code, a script's output, the diff of a healed file, or the grade of a check. Where
    standard output belongs to a script, the verdict goes to standard error.
    """
    if as_json:
        print(report.model_dump_json(indent=1))
    elif report.command == "check":
        sys.stdout.write(render_grade(report))
    elif report.command == "script":
        write_program_text(report.script.stdout if report.script else "")
        sys.stdout.flush()
        lines = map(escape_invisible, summarize_report(report))
        sys.stderr.write("".join(f"{line}\n" for line in lines))
    elif report.command == "heal":
        write_program_text(diff_healed_code(report))
        sys.stdout.write(as_comments(summarize_report(report)))
    elif report.command == "change":
        write_program_text(report.final_code)
        sys.stdout.write(as_comments(summarize_report(report)))
    elif report.final_code:
        write_program_text(report.final_code.rstrip("\n") + "\n\n")
        sys.stdout.write(as_comments(summarize_report(report)))
    sys.stdout.flush()
