"""Editing of a run's contract, or of a script's checks, in the user's editor."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from greenloop.dependencies import PackageAllowlist
from greenloop.errors import GreenloopError
from greenloop.llm.parsing.contracts.answer import parse_contract
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.response import LLMResponse
from greenloop.records import Contract, OutputCheck, Report
from greenloop.reporting.escaping import sanitize_line
from greenloop.scripts.checks.json_form import check_to_json, checks_from_json
from greenloop.specification.examples import analyze_specification
from greenloop.workflow.storage.request import RunRequest

_MAX_CHECKS = 1000  # high enough to keep all that a user writes
EditedT = TypeVar("EditedT")


def print_line(line: str) -> None:
    """Print a line on standard error, with control characters escaped."""
    print(sanitize_line(line), file=sys.stderr, flush=True)


def edit_contract(
    contract: Contract, report: Report, request: RunRequest, allowed: PackageAllowlist
) -> Contract | None:
    """Return the contract as the user edited it; None if it is unchanged or invalid."""

    def read(text: str) -> Contract:
        """Parse the contract, with the same checks as a model's contract."""
        return parse_contract(
            LLMResponse(text),
            specification=analyze_specification(request.specification),
            module=contract.module,
            allowed=allowed,
        )

    return _edit_text("contract", contract.model_dump_json(indent=1) + "\n", report, read)


def edit_checks(report: Report) -> tuple[OutputCheck, ...] | None:
    """Return the generated checks as the user edited them, marked as given by the user.

    None if they are unchanged or invalid.
    """
    items = [check_to_json(item) for item in select_generated_checks(report)]
    text = json.dumps([item for item in items if item], indent=1, ensure_ascii=False) + "\n"
    return _edit_text("checks", text, report, _parse_checks)


def select_generated_checks(report: Report) -> tuple[OutputCheck, ...]:
    """Return the active checks of a script that a model derived from its task."""
    checks = report.script.checks if report.script else ()
    return tuple(item for item in checks if item.origin == "generated")


def _parse_checks(text: str) -> tuple[OutputCheck, ...]:
    try:
        read = checks_from_json(json.loads(text), _MAX_CHECKS)
    except ValueError as error:
        raise InvalidResponse(f"{error}.") from None
    return tuple(item.model_copy(update={"origin": "given"}) for item in read)


def _edit_text(
    name: str, text: str, report: Report, parse: Callable[[str], EditedT]
) -> EditedT | None:
    """Return the edited and parsed text; None if it is unchanged or invalid.

    An invalid text is kept, and opened again by the next edit.
    """
    path = Path(str(report.artifacts.run_dir)) / f"{name}.json"
    try:
        if not path.exists():  # else an earlier edit was invalid
            path.write_text(text, encoding="utf-8")
        command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        status = subprocess.run([*shlex.split(command), str(path)], check=False).returncode
        found = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        print_line(f"the {name} cannot be edited: {error}")
        return None
    if status or found.strip() == text.strip():
        path.unlink(missing_ok=True)
        why = f"the editor ended with status {status}" if status else "nothing was changed"
        print_line(f"the {name} is unchanged: {why}")
        return None
    try:
        edited = parse(found)
    except (InvalidResponse, GreenloopError) as problem:
        print_line(f"{problem} Choose e again to correct it: your text is kept.")
        return None
    path.unlink()
    return edited
