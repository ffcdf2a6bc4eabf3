"""JSON Schema: whether a schema is one, and what of a value does not fit it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_SECONDS = 20
_PROGRAM = Path(__file__).with_name("validating")


def schema_fault(schema: object) -> str:
    """Why it is no JSON Schema; "" where it is one."""
    return "; ".join(_told({"schema": schema}))


def misfits(schema: str, instance: object) -> list[str]:
    """The first places of a JSON value that do not fit a schema (JSON text), a line each."""
    return _told({"schema": json.loads(schema), "instance": instance})


def _told(request: dict[str, object]) -> list[str]:
    try:
        ended = subprocess.run(
            [sys.executable, str(_PROGRAM)],
            input=json.dumps(request),
            capture_output=True,
            encoding="utf-8",
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return [f"it could not be validated within {_SECONDS} s"]
    except (OSError, ValueError, RecursionError) as error:
        return [f"it could not be validated: {error}"]
    if ended.returncode != 0:
        last = ended.stderr.strip().rpartition("\n")[2] or f"status {ended.returncode}"
        return [f"it could not be validated: {last}"]
    return [f"{path}: {message}" for path, message in json.loads(ended.stdout)]
