"""What a run agreed on, edited by the person: a contract, or the checks of a script."""

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
from greenloop.llm.parsing.contract import parse_contract
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.response import LLMResponse
from greenloop.records import Contract, OutputCheck, Report
from greenloop.reporting.escaping import sanitize_line
from greenloop.scripts.checks.json_form import check_to_json, checks_from_json
from greenloop.specification.examples import analyze_specification
from greenloop.workflow.storage.request import RunRequest

_MAX_CHECKS = 1000  # nobody writes so many: all of the person's are kept
EditedT = TypeVar("EditedT")


def print_line(line: str) -> None:
    """One line for the person, which cannot steer the terminal."""
    print(sanitize_line(line), file=sys.stderr, flush=True)


def edit_contract(
    contract: Contract, report: Report, request: RunRequest, allowed: PackageAllowlist
) -> Contract | None:
    """The contract as the person left it in an editor; None where it is as it was, or is none."""

    def read(text: str) -> Contract:
        """Held to what the specification fixes itself, as a model's contract is."""
        return parse_contract(
            LLMResponse(text),
            specification=analyze_specification(request.specification),
            module=contract.module,
            allowed=allowed,
        )

    return _edit_text("contract", contract.model_dump_json(indent=1) + "\n", report, read)


def edit_checks(report: Report) -> tuple[OutputCheck, ...] | None:
    """The checks that were made of the task as the person left them in an editor: theirs from now
    on. None where they are as they were, or are none."""
    items = [check_to_json(item) for item in generated_checks(report)]
    text = json.dumps([item for item in items if item], indent=1, ensure_ascii=False) + "\n"
    return _edit_text("checks", text, report, _parse_checks)


def generated_checks(report: Report) -> tuple[OutputCheck, ...]:
    """Those of a script that were made of its task, and stand."""
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
    """What the person made of a text, read; what cannot be read is kept, to be mended."""
    path = Path(str(report.artifacts.run_dir)) / f"{name}.json"
    try:
        if not path.exists():  # else it was edited before, and could not be used
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
        print_line(f"the {name} as before: {why}")
        return None
    try:
        edited = parse(found)
    except (InvalidResponse, GreenloopError) as problem:
        print_line(f"{problem} Choose e again to mend it: your text is kept.")
        return None
    path.unlink()
    return edited
