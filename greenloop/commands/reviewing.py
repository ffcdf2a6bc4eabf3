"""`--approve`: the person sees what would be written and what it is worth, and says what happens."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import termios
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Literal

from greenloop.errors import InterruptedRunError
from greenloop.models.answer import Answer
from greenloop.models.unusable import Unusable
from greenloop.packages import AllowList
from greenloop.records import Contract, Report
from greenloop.reporting.progress import one_line
from greenloop.reporting.summary import verdict_line
from greenloop.suite.examples import given_in
from greenloop.tools.contracts import read_contract
from greenloop.way.amending import with_contract, with_words
from greenloop.way.leaving import tests_place
from greenloop.way.request import RunRequest

Decision = Literal["accept", "reject"] | RunRequest


def review(report: Report, request: RunRequest, allowed: AllowList) -> Decision:
    """What the person decides; a request is that of the run that goes on.

    Raises:
        InterruptedRunError: the person broke off.
    """
    try:
        for line in _shown(report, request):
            _say(line)
        while True:
            decision = _decision(report, request, allowed)
            if decision is not None:
                return decision
    except KeyboardInterrupt:
        again = f"greenloop resume --approve {report.artifacts.run_dir}"
        raise InterruptedRunError(f"nothing was written; asked again by: {again}") from None


def _decision(report: Report, request: RunRequest, allowed: AllowList) -> Decision | None:
    """None where the question is put again."""
    words, contract = request.kind != "heal", report.contract
    choices = ["[a]ccept", "[r]eject"]
    choices += ["[e]dit the contract and go on"] if contract else []
    choices += ["[c]hange in words"] if words else []
    answer = _ask(f"{', '.join(choices)}? ")
    if answer is None or answer in ("r", "reject"):
        return "reject"
    if answer in ("a", "accept"):
        return "accept"
    if answer in ("e", "edit") and contract:
        edited = _edited(contract, report, request, allowed)
        return with_contract(request, edited) if edited else None
    if answer in ("c", "change") and words:
        wish = _ask("what should be different (one line)? ")
        return with_words(request, wish, contract) if wish else None
    return None


def _shown(report: Report, request: RunRequest) -> Iterator[str]:
    """The change to each file, the verdict with its reasons, and what was assumed."""
    for path, text in _places(report, request):
        before = _before(path, report)
        yield from _diff(str(path), before, text)
    yield ""
    yield verdict_line(report)
    yield from (f"  not better because: {reason}" for reason in report.reasons)
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


def _edited(
    contract: Contract, report: Report, request: RunRequest, allowed: AllowList
) -> Contract | None:
    """The contract as the person left it in an editor; None where it is as it was, or is none."""
    path = Path(str(report.artifacts.run_dir)) / "contract.json"
    text = contract.model_dump_json(indent=1) + "\n"
    try:
        if not path.exists():  # else it was edited before, and could not be used
            path.write_text(text, encoding="utf-8")
        command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        status = subprocess.run([*shlex.split(command), str(path)], check=False).returncode
        found = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        _say(f"the contract cannot be edited: {error}")
        return None
    if status or found.strip() == text.strip():
        path.unlink(missing_ok=True)
        _say(
            "the contract is as it was" if not status else f"the editor ended with status {status}"
        )
        return None
    try:
        edited = _read(found, contract, request, allowed)
    except Unusable as problem:
        _say(f"{problem} Choose e again to mend it: your text is kept.")
        return None
    path.unlink()
    return edited


def _read(text: str, before: Contract, request: RunRequest, allowed: AllowList) -> Contract:
    """Held to what the specification fixes itself, as a model's contract is."""
    given = given_in(request.specification)
    return read_contract(
        Answer(text),
        specification=request.specification,
        given=given,
        module=before.module,
        allowed=allowed,
    )


def _ask(question: str) -> str | None:
    """One line, stripped; None at the end of the input."""
    termios.tcflush(sys.stdin, termios.TCIFLUSH)  # what was typed before the question is no answer
    print(question, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    return line.strip() if line else None


def _say(line: str) -> None:
    print(one_line(line), file=sys.stderr, flush=True)
