"""The output of a command's report, and its exit status."""

import os
import platform
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, get_args

from greenloop.cli.options.shared import DisplayOptions
from greenloop.cli.process import escape_displayed, print_error
from greenloop.errors import (
    BudgetExhaustedError,
    GreenloopError,
    InputError,
    InterruptedRunError,
    InvalidResponseError,
    ModelUnavailableError,
    OutputError,
    SandboxError,
    UnusableCodeError,
)
from greenloop.files import writing
from greenloop.records import (
    Artifacts,
    Command,
    Environment,
    Evidence,
    Report,
    SandboxInfo,
    Timings,
    Usage,
)
from greenloop.records.report import ENDED_EARLY
from greenloop.reporting.card import print_card
from greenloop.reporting.escaping import escape_invisible
from greenloop.reporting.evidence.text import render_grade
from greenloop.reporting.summary import (
    as_comments,
    diff_healed_code,
    format_command,
    print_code,
    print_diff,
    summarize_report,
)
from greenloop.versions import greenloop_version
from greenloop.workflow.storage.run_dir import RunDirectory, write_atomically

STDOUT = "-"  # as the name of a file
MAX_SHOWN_LINES = 40  # of code or a diff at a terminal; more would push the verdict off the screen
T = TypeVar("T")


def finish_run(
    report: Report,
    error: GreenloopError | None,
    options: DisplayOptions,
    status: int = 1,
    *,
    is_shown: bool = False,
) -> int:
    """Print the report, and the error if there is one; return the exit status.

    `is_shown`: the terminal shows the main result already.
    """
    has_begun = error is None or bool(report.final_code)
    try:
        is_cut_short = isinstance(error, (SandboxError, InterruptedRunError))
        if options.json or report.command != "check" or not is_cut_short:
            print_report(report, options, with_card=has_begun, is_shown=is_shown)
    except OSError as problem:
        if isinstance(problem, BrokenPipeError):
            raise
        error = error or OutputError(f"standard output cannot be written: {problem.strerror}")
    if error is None:
        return status
    print_error(f"{error}{_name_next_step(report, error)}")
    if report.artifacts.report and not options.json and report.command != "check":
        print(f"report: {report.artifacts.report}", file=sys.stderr)
    return error.exit_status


def print_refusal(name: str, error: GreenloopError) -> None:
    """Print a report as JSON for a command that could not start."""
    report = Report(
        specification="",
        final_code="",
        test_code="",
        tests_passed=False,
        test_output="",
        iterations=0,
        verdict="failed",
        reasons=(f"{ENDED_EARLY}{error}",),
        evidence=Evidence(),
        usage=Usage(),
        timings=Timings(),
        environment=Environment(
            greenloop=greenloop_version(),
            python=platform.python_version(),
            model="",
            sandbox=SandboxInfo.describe_unopened("auto"),
        ),
        artifacts=Artifacts(),
        command=next((item for item in get_args(Command) if item == name), ""),
    )
    print(report.model_dump_json(indent=1), flush=True)


def _name_next_step(report: Report, error: GreenloopError) -> str:
    """Return a hint how to continue a run that a limit, the server or the answers ended."""
    command = format_command(report, "resume") if report.artifacts.run_dir else ""
    if command and isinstance(error, BudgetExhaustedError):
        return f"; `{command}` with a higher limit continues"
    if command and isinstance(error, ModelUnavailableError):
        return f"; `{command}` continues then"
    if command and isinstance(error, (InvalidResponseError, UnusableCodeError)):
        return f"; `{command}` asks once more; --model names another model for a new run"
    return ""


def print_report(
    report: Report, options: DisplayOptions, *, with_card: bool = True, is_shown: bool = False
) -> None:
    """Print the report as JSON, or its main result, and at a terminal the verdict card.

    The result is the code, a script's output, the diff of a healed file, or the grade of a check.
    A pipe gets all of it; a terminal only what fits, and nothing that was written to a file.
    """
    at_terminal = sys.stdout.isatty() and not options.json
    hides_code = False
    if options.json:
        print(report.model_dump_json(indent=1))
    elif report.command == "script":
        sys.stdout.write(escape_displayed(report.script.stdout if report.script else ""))
    elif at_terminal:
        hides_code = not (is_shown or _show_result(report))
    elif report.command == "check":
        sys.stdout.write(render_grade(report))
    elif report.final_code or (with_card and report.command in ("heal", "change")):
        sys.stdout.write(escape_displayed(_result_text(report)))
        sys.stdout.write(as_comments(summarize_report(report)))
    sys.stdout.flush()
    is_graded = report.command == "check" and not at_terminal and not options.json
    to_stderr = not options.quiet and not is_graded and (sys.stderr.isatty() or options.json)
    if with_card and (to_stderr or at_terminal):
        print_card(report, sys.stderr if to_stderr else sys.stdout, hides_code=hides_code)
    elif with_card and report.command == "script":  # standard output belongs to the script
        lines = map(escape_invisible, summarize_report(report))
        sys.stderr.write("".join(f"{line}\n" for line in lines))


def _show_result(report: Report) -> bool:
    """Show code or a diff in colour if it fits; return whether it was shown or is in a file."""
    text = "" if report.command == "check" else _result_text(report).rstrip()
    if not text:
        return True
    if report.artifacts.output or text.count("\n") >= MAX_SHOWN_LINES:
        return bool(report.artifacts.output)
    if report.command in ("heal", "change"):
        print_diff(text.splitlines(), sys.stdout)
    else:
        print_code(text, sys.stdout)
    return True


def _result_text(report: Report) -> str:
    if report.command == "heal":
        return diff_healed_code(report)
    return report.final_code if report.command == "change" else f"{report.final_code.rstrip()}\n\n"


def write_output(name: str, text: str) -> None:
    """Write a text to a file, or to standard output for `-`.

    Raises:
        InputError: no file is named, or one from which a run is read.
        OutputError: it cannot be written.
    """
    if not name:
        raise InputError("name a file, or - for standard output")
    if RunDirectory(Path(name).parent).is_own_file(Path(name)):
        raise InputError(f"{name} is a file of the run itself; name another file")
    if name == STDOUT:
        sys.stdout.write(text)
    elif os.path.exists(name) and not os.path.isfile(name):  # False if the name is too long
        with writing(name):
            Path(name).write_text(text, encoding="utf-8")  # a pipe, as /dev/stdout
    else:
        write_atomically(Path(name), text)


def write_outputs(record: T, *outputs: tuple[str | None, Callable[[T], str]]) -> None:
    """Write a record in each format for which a file is named. Raises as `write_output` does."""
    for name, render in outputs:
        if name is not None:
            write_output(name, render(record))


def prints_text(options: DisplayOptions) -> bool:
    """Return whether standard output is for text, as no option writes another format to it."""
    others = (getattr(options, name, None) for name in ("markdown", "junit"))
    return not options.json and STDOUT not in others


def open_page(page: Path) -> None:
    """Open the page in `$BROWSER` or on the display, if there is one."""
    names = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    if sys.platform == "darwin" or any(map(os.environ.get, names)):
        webbrowser.open(page.absolute().as_uri())
