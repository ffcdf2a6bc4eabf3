"""JSON Schema: whether a schema is one, and what of a value does not fit it."""

from __future__ import annotations

import json
from pathlib import Path

from greenloop.scripts.checks.subprocess_query import answer

_SECONDS = 20.0
_PROGRAM = Path(__file__).with_name("json_schema_worker")


def schema_fault(schema: object) -> str:
    """Why it is no JSON Schema; "" where it is one."""
    return "; ".join(_told({"schema": schema}))


def misfits(schema: str, instance: object) -> list[str]:
    """The first places of a JSON value that do not fit a schema (JSON text), a line each."""
    return _told({"schema": json.loads(schema), "instance": instance})


def _told(request: dict[str, object]) -> list[str]:
    try:
        told = answer([str(_PROGRAM)], request, _SECONDS)
    except (TimeoutError, RuntimeError) as error:
        return [f"it could not be validated: {error}"]
    return [f"{path}: {message}" for path, message in told] if isinstance(told, list) else []
