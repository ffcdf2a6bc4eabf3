"""Texts about a report for a terminal: verdict, counts, files, code and diffs."""

import os
import shlex
from collections.abc import Iterable
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import Final, TextIO

from rich.console import Console
from rich.syntax import Syntax

from greenloop.errors import SettingsError
from greenloop.records import Choice, Report, Verdict
from greenloop.records.report import ENDED_EARLY
from greenloop.reporting.escaping import (
    escape_commands,
    escape_invisible,
    first_line,
    truncate_words,
)
from greenloop.settings import Settings

_VERDICT_MEANINGS: Final[dict[Verdict, str]] = {
    "verified": "Every test passes, and every piece of evidence reaches its threshold.",
    "passed": "Every test passes, but not every piece of evidence reaches its threshold.",
    "failed": "The code does not pass its tests; the reasons are below.",
}
_UNTESTED = "The run ended before the code was tested; the reasons are below."
_NOTHING_TO_GRADE = "Every test passes, and no code has changed that could be graded."
VERDICT_SIGNS: Final[dict[Verdict, str]] = {"verified": "✓", "passed": "○", "failed": "✗"}
VERDICT_STYLES: Final = {"verified": "bold green", "passed": "bold yellow", "failed": "bold red"}
_MAX_TITLE_LENGTH = 60
_DIFF_STYLES = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}


def describe_verdict(report: Report) -> str:
    """Return a sentence that explains the verdict of a report."""
    if report.change and report.change.nothing_to_grade and report.verdict == "passed":
        return _NOTHING_TO_GRADE
    if report.verdict == "failed" and not report.tests and ended_early(report):
        return _UNTESTED
    return _VERDICT_MEANINGS[report.verdict]


def ended_early(report: Report) -> bool:
    """Return whether an error or the user ended the run, so that it can be continued."""
    return any(reason.startswith(ENDED_EARLY) for reason in report.reasons)


def report_title(report: Report) -> str:
    """Return the module's name, else the beginning of the specification."""
    module = report.module or (report.contract.module if report.contract else "")
    module = "" if report.command == "change" else module
    title = first_line(module or report.specification, 1000) or "a run"
    return truncate_words(title, _MAX_TITLE_LENGTH)


def diff_healed_code(report: Report) -> str:
    """Return the diff of a healed file; '' where nothing was changed."""
    lines = unified_diff(
        report.original.splitlines(),
        report.final_code.splitlines(),
        "original",
        "healed" if report.tests_passed else "best attempt",
        lineterm="",
    )
    return "".join(f"{line}\n" for line in lines)


def format_verdict(report: Report) -> str:
    """Return verdict, tests and cost in one line."""
    return f"{report.verdict}: {format_counts(report)}"


def format_counts(report: Report) -> str:
    """Return in one line the numbers of tests, repairs, calls and tokens, the cost and the time."""
    usage, parts = report.usage, [format_test_counts(report)]
    if report.command != "check":
        parts.append(pluralize(report.repairs, "repair"))
    if usage.calls:
        tokens = usage.input_tokens + usage.output_tokens
        parts += [pluralize(usage.calls, "call"), f"{tokens} tokens", describe_cost(report)]
    return ", ".join([*parts, f"{report.timings.total_s:.1f} s"])


def format_test_counts(report: Report) -> str:
    """Return `78 of 78 tests pass + 8 of 8 held-out examples`; for a script its checks."""
    counted = [item for item in report.tests if item.is_active]
    tests = [item.outcome == "passed" for item in counted if item.origin != "held_out"]
    examples = [item.outcome for item in counted if item.origin == "held_out"]
    noun, verb = ("check", "hold") if report.script else ("test", "pass")
    verb += ("s" if verb == "hold" else "es") * (len(tests) == sum(tests) == 1)
    text = f"{sum(tests)} of {pluralize(len(tests), noun)} {verb}"
    if not tests:  # a test that ends the process has no result
        text = f"no {noun} has a result"
    if skipped := sum(item.outcome in ("skipped", "xfailed") for item in counted):
        text += f", {skipped} skipped"
    if not examples:
        return text
    number = pluralize(len(examples), "held-out example")
    if all(item == "not run" for item in examples):
        return f"{text} + {number} not run"
    return f"{text} + {examples.count('passed')} of {number}"


def describe_cost(report: Report) -> str:
    """Return the cost of the model's calls; recorded answers cost nothing now."""
    if not report.usage.calls:
        return "no cost"
    if report.usage.cost_usd is not None:
        return f"${report.usage.cost_usd:.4f}"
    return "recorded" if report.environment.model.startswith("replay:") else "cost unknown"


def describe_change(report: Report) -> list[str]:
    """Return the lines about the files, tests and differences of a change; [] for other runs."""
    change = report.change
    if change is None:
        return []
    lines = [f"{item.path}: +{item.added} -{item.removed}" for item in change.files]
    if report.command != "check":  # which makes no code that the tests could be locked for
        lines.append(f"{pluralize(change.baseline.locked, 'test')} of the project locked")
    lines += (f"public: {item}" for item in change.public_changed)
    lines += (f"outside of the fence: {item}" for item in change.outside_fence)
    found = change.before_after.differences if change.before_after else ()
    return lines + [f"{item.call}: {item.peer} before, {item.code} after" for item in found]


def pluralize(number: int, noun: str) -> str:
    """Return `1 repair`, `2 repairs`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_answered(choice: Choice) -> str:
    """Return in words who answered or accepted a choice, or `open`."""
    words = {"user": "answered by the user", "accepted": "accepted by the user"}
    if choice.unread:
        return "accepted unread"
    return words.get(choice.answered or "", "open")


def summarize_report(report: Report) -> list[str]:
    """Return verdict, reasons and files."""
    lines = [format_verdict(report)]
    lines += [f"  not verified: {reason}" for reason in report.reasons]
    lines += [f"  {unread}" for unread in [describe_unread_choices(report)] if unread]
    lines += [f"  {label}: {path}" for label, path in list_places(report)]
    if report.artifacts.report:
        lines.append(f"  report: {report.artifacts.report}")
    if report.artifacts.run_dir and is_only_kept(report):
        lines.append(f"  write: {format_command(report, 'report --write .')}")
    if report.artifacts.run_dir:
        lines.append(f"  next: {format_command(report, 'report --open')}")
    return lines


def list_places(report: Report) -> list[tuple[str, str]]:
    """Return the files that a run wrote for the user, each with its label."""
    places = report.artifacts
    failed = report.command == "heal" and not report.tests_passed
    changed = report.command == "heal" and report.final_code != report.original
    kept = places.best_code if report.command == "script" or is_only_kept(report) else None
    patch = None if places.applied or places.worktree else places.best_code
    found = (
        (
            "patch" if report.change else "code",
            places.output or (patch if report.change else kept),
        ),
        ("best attempt", places.best_code if changed and failed else None),
        ("healed code", None if failed or places.output or not changed else places.best_code),
        ("original", places.original),
        ("created files", places.made),
        ("changed in", places.applied),
        ("commit in", places.worktree),
        ("tests", places.tests_output or (places.best_tests if is_only_kept(report) else None)),
        ("choices", places.choices),
    )
    return [(label, path) for label, path in found if path]


def is_only_kept(report: Report) -> bool:
    """Return whether the tested module of a run is only in the run directory."""
    places, is_tested = report.artifacts, bool(report.tests)
    return report.command == "make" and is_tested and bool(places.best_code and not places.output)


def format_command(report: Report, command: str) -> str:
    """Return a command with the folder of a run, unless the command finds the folder by itself."""
    folder = str(report.artifacts.run_dir)
    place = "" if _is_searched(Path(folder).parent) else f" {shlex.quote(shorten_path(folder))}"
    return f"greenloop {command}{place}"


def _is_searched(folder: Path) -> bool:
    """Return whether commands without a run directory search a folder for the latest run."""
    with suppress(SettingsError):
        return folder.absolute() == Path(Settings.load().home, "runs").absolute()
    return False


def shorten_path(path: str) -> str:
    """Return a path relative to the working folder if it is in that folder."""
    relative = os.path.relpath(path)
    return path if relative.split(os.sep)[0] == os.pardir else relative


def as_comments(lines: list[str]) -> str:
    """Return the lines, escaped, as Python comments, to be printed below code."""
    escaped = map(escape_invisible, lines)
    return "".join(f"# {part}\n" for line in escaped for part in line.split("\n"))


def describe_unread_choices(report: Report) -> str:
    """Return which choices were accepted with all others; '' for none."""
    unread = report.contract.unread_choices if report.contract else ()
    names = ", ".join(item.id for item in unread)
    return f"{pluralize(len(unread), 'choice')} accepted unread: {names}" if unread else ""


def describe_ruling(wrong: str) -> str:
    """Return the judge's answer on a disputed test in words."""
    answers = {"test": "the test is wrong, dropped", "code": "the test is right"}
    return answers.get(wrong, "the text contradicts itself, or can be read both ways")


def open_console(stream: TextIO) -> Console:
    """Return a console that shows text unchanged, without markup or highlighting."""
    return Console(file=stream, markup=False, highlight=False, emoji=False)


def print_diff(lines: Iterable[str], stream: TextIO) -> None:
    """Print a unified diff in colour, with untrusted text escaped."""
    console = open_console(stream)
    for line in lines:
        style = next((style for mark, style in _DIFF_STYLES.items() if line.startswith(mark)), "")
        console.print(escape_invisible(line), style=style, soft_wrap=True)


def print_code(code: str, stream: TextIO) -> None:
    """Print Python code in colour, with untrusted text escaped."""
    console = open_console(stream)
    shown = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(
        escape_commands(escape_invisible(code)).rstrip("\n")
    )
    console.print(shown, soft_wrap=True)
