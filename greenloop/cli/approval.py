"""`--approve`: the person sees what would be written and what it is worth, and says what happens."""

from __future__ import annotations

import sys
import termios
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Literal

from greenloop.cli.editor import edited_checks, edited_contract, generated_checks, say
from greenloop.errors import InterruptedRunError
from greenloop.llm.factory import asks_nobody
from greenloop.records import Report
from greenloop.reporting.summary import verdict_line
from greenloop.settings import Settings
from greenloop.workflow.delivery import tests_place
from greenloop.workflow.storage.amendments import with_checks, with_contract, with_words
from greenloop.workflow.storage.request import RunRequest

Decision = Literal["accept", "reject"] | RunRequest


def review(report: Report, request: RunRequest, settings: Settings) -> Decision:
    """What the person decides; a request is that of the run that goes on.

    Raises:
        InterruptedRunError: the person broke off.
    """
    if request.original and report.final_code == request.original.text:
        return "accept"  # nothing would be written
    try:
        for line in _shown(report, request):
            say(line)
        while True:
            decision = _decision(report, request, settings)
            if decision is not None:
                return decision
    except KeyboardInterrupt:
        again = f"greenloop resume --approve {report.artifacts.run_dir}"
        raise InterruptedRunError(f"nothing was written; asked again by: {again}") from None


def _decision(report: Report, request: RunRequest, settings: Settings) -> Decision | None:
    """None where the question is put again."""
    words, edited = not asks_nobody(settings), _editable(report, request)
    choices = ["[a]ccept", "[r]eject"]
    choices += [f"[e]dit the {edited} and go on"] if edited else []
    choices += ["[c]hange in words"] if words else []
    answer = _ask(f"{', '.join(choices)}? ")
    if answer is None or answer in ("r", "reject"):
        return "reject"
    if answer in ("a", "accept"):
        return "accept"
    if answer in ("e", "edit") and edited:
        return _with_edited(report, request, settings)
    if answer in ("c", "change") and words:
        wish = _ask("what should be different (one line)? ")
        return with_words(request, wish, report.contract) if wish else None
    return None


def _editable(report: Report, request: RunRequest) -> str:
    """What the run agreed on by itself, and the person may put otherwise; ''."""
    if report.contract:
        return "contract"
    return "checks" if request.kind == "script" and report.script else ""


def _with_edited(report: Report, request: RunRequest, settings: Settings) -> Decision | None:
    if report.contract:
        edited = edited_contract(report.contract, report, request, settings.allow_list)
        return with_contract(request, edited) if edited else None
    checks = edited_checks(report)
    return None if checks is None else with_checks(request, checks)


def _shown(report: Report, request: RunRequest) -> Iterator[str]:
    """The change to each file, the verdict with its reasons, and what was assumed."""
    for path, text in _places(report, request):
        before = _before(path, report)
        yield from _diff(str(path), before, text)
    yield ""
    yield verdict_line(report)
    yield from (f"  not better because: {reason}" for reason in report.reasons)
    if request.kind == "script" and (checks := generated_checks(report)):
        yield "checked for, made of the task:"
        yield from (f"  - {item}" for item in checks)
    assumptions = report.contract.assumptions if report.contract else ()
    if assumptions:
        yield "open assumptions, made where the specification is silent:"
        yield from (f"  - {item}" for item in assumptions)


def _places(report: Report, request: RunRequest) -> Iterator[tuple[Path, str]]:
    """Files and what would stand in them; where none is asked for, the names that it would get."""
    if request.original:
        yield Path(request.output or request.original.path), report.final_code
        return
    module = report.contract.module if report.contract else "script"
    yield Path(request.output or f"{module}.py"), report.final_code
    tests = tests_place(request)
    if report.test_code.strip() and not request.script:
        yield Path(tests or f"test_{module}.py"), report.test_code


def _before(path: Path, report: Report) -> str:
    if report.original:
        return report.original
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _diff(name: str, before: str, after: str) -> Iterator[str]:
    return unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="")


def _ask(question: str) -> str | None:
    """One line, stripped; None at the end of the input."""
    termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before the question is no answer
    print(question, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    return line.strip() if line else None
