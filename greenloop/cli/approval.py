"""`--approve`: the person sees what would be written and what it is worth, and says what happens."""

from __future__ import annotations

import sys
import termios
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Literal

from greenloop.cli.editor import edit_checks, edit_contract, generated_checks, print_line
from greenloop.errors import InterruptedRunError
from greenloop.llm.factory import is_model_disabled
from greenloop.records import Report
from greenloop.reporting.summary import format_verdict
from greenloop.settings import Settings
from greenloop.workflow.delivery import resolve_tests_output
from greenloop.workflow.storage.amendments import with_change_request, with_checks, with_contract
from greenloop.workflow.storage.request import HealRequest, RunRequest, ScriptRequest

Decision = Literal["accept", "reject"] | RunRequest


def review(report: Report, request: RunRequest, settings: Settings) -> Decision:
    """What the person decides; a request is that of the run that goes on.

    Raises:
        InterruptedRunError: the person broke off.
    """
    if isinstance(request, HealRequest) and report.final_code == request.original.text:
        return "accept"  # nothing would be written
    try:
        for line in _review_lines(report, request):
            print_line(line)
        while True:
            decision = _prompt_decision(report, request, settings)
            if decision is not None:
                return decision
    except KeyboardInterrupt:
        again = f"greenloop resume --approve {report.artifacts.run_dir}"
        raise InterruptedRunError(f"nothing was written; asked again by: {again}") from None


def _prompt_decision(report: Report, request: RunRequest, settings: Settings) -> Decision | None:
    """None where the question is put again."""
    words, edited = not is_model_disabled(settings), _editable_part(report, request)
    choices = ["[a]ccept", "[r]eject"]
    choices += [f"[e]dit the {edited} and go on"] if edited else []
    choices += ["[c]hange in words"] if words else []
    answer = _prompt_line(f"{', '.join(choices)}? ")
    if answer is None or answer in ("r", "reject"):
        return "reject"
    if answer in ("a", "accept"):
        return "accept"
    if answer in ("e", "edit") and edited:
        return _apply_edit(report, request, settings)
    if answer in ("c", "change") and words:
        wish = _prompt_line("what should be different (one line)? ")
        return with_change_request(request, wish, report.contract) if wish else None
    return None


def _editable_part(report: Report, request: RunRequest) -> str:
    """What the run agreed on by itself, and the person may put otherwise; ''."""
    if report.contract:
        return "contract"
    return "checks" if isinstance(request, ScriptRequest) and report.script else ""


def _apply_edit(report: Report, request: RunRequest, settings: Settings) -> Decision | None:
    if report.contract:
        edited = edit_contract(report.contract, report, request, settings.allow_list)
        return with_contract(request, edited) if edited else None
    if not isinstance(request, ScriptRequest) or (checks := edit_checks(report)) is None:
        return None
    return with_checks(request, checks)


def _review_lines(report: Report, request: RunRequest) -> Iterator[str]:
    """The change to each file, the verdict with its reasons, and what was assumed."""
    for path, text in _planned_files(report, request):
        before = _current_text(path, report)
        yield from _diff_lines(str(path), before, text)
    yield ""
    yield format_verdict(report)
    yield from (f"  not better because: {reason}" for reason in report.reasons)
    if isinstance(request, ScriptRequest) and (checks := generated_checks(report)):
        yield "checked for, made of the task:"
        yield from (f"  - {item}" for item in checks)
    assumptions = report.contract.assumptions if report.contract else ()
    if assumptions:
        yield "open assumptions, made where the specification is silent:"
        yield from (f"  - {item}" for item in assumptions)


def _planned_files(report: Report, request: RunRequest) -> Iterator[tuple[Path, str]]:
    """Files and what would stand in them; where none is asked for, the names that it would get."""
    if isinstance(request, HealRequest):
        yield Path(request.output or request.original.path), report.final_code
        return
    module = report.contract.module if report.contract else "script"
    yield Path(request.output or f"{module}.py"), report.final_code
    tests = resolve_tests_output(request)
    if report.test_code.strip() and not isinstance(request, ScriptRequest):
        yield Path(tests or f"test_{module}.py"), report.test_code


def _current_text(path: Path, report: Report) -> str:
    if report.original:
        return report.original
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _diff_lines(name: str, before: str, after: str) -> Iterator[str]:
    return unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="")


def _prompt_line(question: str) -> str | None:
    """One line, stripped; None at the end of the input."""
    termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before the question is no answer
    print(question, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    return line.strip() if line else None
