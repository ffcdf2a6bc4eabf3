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

from greenloop.dependencies import AllowList
from greenloop.errors import GreenloopError
from greenloop.llm.parsing.contract import read_contract
from greenloop.llm.parsing.errors import Unusable
from greenloop.llm.response import Answer
from greenloop.records import Contract, OutputCheck, Report
from greenloop.reporting.escaping import one_line
from greenloop.scripts.checks.json_form import read_proposed, written
from greenloop.specification.examples import given_in
from greenloop.workflow.storage.request import RunRequest

_MOST_CHECKS = 1000  # nobody writes so many: all of the person's are kept
Edited = TypeVar("Edited")


def say(line: str) -> None:
    """One line for the person, which cannot steer the terminal."""
    print(one_line(line), file=sys.stderr, flush=True)


def edited_contract(
    contract: Contract, report: Report, request: RunRequest, allowed: AllowList
) -> Contract | None:
    """The contract as the person left it in an editor; None where it is as it was, or is none."""

    def read(text: str) -> Contract:
        """Held to what the specification fixes itself, as a model's contract is."""
        return read_contract(
            Answer(text),
            specification=request.specification,
            given=given_in(request.specification),
            module=contract.module,
            allowed=allowed,
        )

    return _edited("contract", contract.model_dump_json(indent=1) + "\n", report, read)


def edited_checks(report: Report) -> tuple[OutputCheck, ...] | None:
    """The checks that were made of the task as the person left them in an editor: theirs from now
    on. None where they are as they were, or are none."""
    items = [written(item) for item in generated_checks(report)]
    text = json.dumps([item for item in items if item], indent=1, ensure_ascii=False) + "\n"
    return _edited("checks", text, report, _read_checks)


def generated_checks(report: Report) -> tuple[OutputCheck, ...]:
    """Those of a script that were made of its task, and stand."""
    checks = report.script.checks if report.script else ()
    return tuple(item for item in checks if item.origin == "generated")


def _read_checks(text: str) -> tuple[OutputCheck, ...]:
    try:
        read = read_proposed(json.loads(text), _MOST_CHECKS)
    except ValueError as error:
        raise Unusable(f"{error}.") from None
    return tuple(item.model_copy(update={"origin": "given"}) for item in read)


def _edited(what: str, text: str, report: Report, read: Callable[[str], Edited]) -> Edited | None:
    """What the person made of a text, read; what cannot be read is kept, to be mended."""
    path = Path(str(report.artifacts.run_dir)) / f"{what}.json"
    try:
        if not path.exists():  # else it was edited before, and could not be used
            path.write_text(text, encoding="utf-8")
        command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        status = subprocess.run([*shlex.split(command), str(path)], check=False).returncode
        found = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        say(f"the {what} cannot be edited: {error}")
        return None
    if status or found.strip() == text.strip():
        path.unlink(missing_ok=True)
        why = f"the editor ended with status {status}" if status else "nothing was changed"
        say(f"the {what} as before: {why}")
        return None
    try:
        edited = read(found)
    except (Unusable, GreenloopError) as problem:
        say(f"{problem} Choose e again to mend it: your text is kept.")
        return None
    path.unlink()
    return edited
