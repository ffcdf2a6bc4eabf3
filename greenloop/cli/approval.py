"""Questions at the terminal before files are written: `--approve`, and confirmation of one file."""

import asyncio
import sys
from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Literal

from greenloop.cli.finish import MAX_SHOWN_LINES
from greenloop.cli.questions import print_line, read_line
from greenloop.errors import InterruptedRunError
from greenloop.files import read_or_empty
from greenloop.records import Report
from greenloop.reporting.summary import format_verdict, print_diff
from greenloop.settings import Settings
from greenloop.workflow.change.request import ChangeRequest
from greenloop.workflow.delivery import resolve_tests_output
from greenloop.workflow.heal.request import HealRequest
from greenloop.workflow.script.request import ScriptRequest
from greenloop.workflow.storage.request import RunRequest, with_change_request

Decision = Literal["accept", "reject"] | RunRequest


def confirm(question: str) -> bool:
    """Ask a question at the terminal, and return whether the answer is yes."""
    return (asyncio.run(read_line(question)) or "").lower() in ("y", "yes")


def confirm_write(path: Path, text: str) -> bool:
    """Show the change to a file, and return whether the user wants it written."""
    print_diff(_diff_lines(str(path), read_or_empty(path), text), sys.stderr)
    if confirm(f"write {path}? [y/N] "):
        return True
    print_line(f"declined: {path} was not written")
    return False


def confirm_patch(patch: str) -> bool:
    """Show a patch, and return whether the user wants it applied."""
    print_diff(patch.splitlines(), sys.stderr)
    if confirm("change these files? [y/N] "):
        return True
    print_line("declined: nothing was changed")
    return False


def review(report: Report, request: RunRequest, settings: Settings) -> Decision:
    """Return the user's decision; a request means that the run continues with it.

    Raises InterruptedRunError: the user interrupted the review.
    """
    if isinstance(request, HealRequest) and report.final_code == request.original.text:
        return "accept"  # nothing would be written
    try:
        diff = list(_review_diff(report, request))
        is_short = len(diff) <= MAX_SHOWN_LINES
        if is_short:
            print_diff(diff, sys.stderr)
        for line in (*(() if is_short else _summarize_diff(diff)), *_review_lines(report, request)):
            print_line(line)
        while True:
            decision = _prompt_decision(report, request, settings, diff)
            if decision is not None:
                return decision
    except KeyboardInterrupt:
        command = f"greenloop resume --approve {report.artifacts.run_dir}"
        raise InterruptedRunError(
            f"nothing was written; to be asked again, run: {command}"
        ) from None


def _prompt_decision(
    report: Report, request: RunRequest, settings: Settings, diff: Sequence[str]
) -> Decision | None:
    """Ask once; return None if the question has to be repeated."""
    can_change = not settings.is_model_disabled
    choices = ["[a]ccept", "[r]eject", "[v]iew the diff"]
    choices += ["[c]hange in words"] if can_change else []
    answer = asyncio.run(read_line(f"{', '.join(choices)}? "))
    if answer is None or answer in ("r", "reject"):
        return "reject"
    if answer in ("a", "accept"):
        return "accept"
    if answer in ("v", "view"):
        print_diff(diff, sys.stderr)
    if answer in ("c", "change") and can_change:
        change = asyncio.run(read_line("what should be different (one line)? "))
        contract = None if isinstance(request, ChangeRequest) else report.contract
        return with_change_request(request, change, contract) if change else None
    return None


def _review_diff(report: Report, request: RunRequest) -> Iterator[str]:
    """Yield the diff of each file."""
    if isinstance(request, ChangeRequest):
        yield from report.final_code.splitlines()
    else:
        for path, text in _list_planned_files(report, request):
            yield from _diff_lines(str(path), report.original or read_or_empty(path), text)


def _summarize_diff(diff: Iterable[str]) -> Iterator[str]:
    """Yield a line for each file with the number of its added and removed lines."""
    counts: dict[str, list[int]] = {}
    name = ""
    for line in diff:
        if line.startswith("+++ "):
            name = line[4:]
            counts[name] = [0, 0]
        elif name and line[:1] in ("+", "-") and not line.startswith("--- "):
            counts[name][line[0] == "-"] += 1
    for name, (added, removed) in counts.items():
        yield f"{name}: +{added} -{removed}"


def _review_lines(report: Report, request: RunRequest) -> Iterator[str]:
    """Yield the verdict with its reasons, and the assumptions."""
    yield ""
    yield format_verdict(report)
    yield from (f"  not verified: {reason}" for reason in report.reasons)
    proposed = report.script.checks if report.script else ()
    checks = [item for item in proposed if item.origin == "generated"]
    assumptions = report.contract.assumptions if report.contract else ()
    for heading, items in (
        ("checks derived from the task:", checks),
        ("open assumptions, where the specification leaves something out:", assumptions),
    ):
        yield from (heading, *(f"  - {item}" for item in items)) if items else ()


def _list_planned_files(report: Report, request: RunRequest) -> Iterator[tuple[Path, str]]:
    """Yield files and their new texts; without `--output`, under their default names."""
    if isinstance(request, HealRequest):
        yield Path(request.output or request.original.path), report.final_code
        return
    module = report.contract.module if report.contract else "script"
    yield Path(request.output or f"{module}.py"), report.final_code
    tests = resolve_tests_output(request)
    if report.test_code.strip() and not isinstance(request, ScriptRequest):
        yield Path(tests or f"test_{module}.py"), report.test_code


def _diff_lines(name: str, before: str, after: str) -> Iterator[str]:
    return unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="")
