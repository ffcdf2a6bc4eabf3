"""JSON Schema: whether a schema is one, and what of a value does not fit it."""

from __future__ import annotations

import json
from pathlib import Path

from greenloop.scripts.checks.subprocess_query import query_subprocess

_TIMEOUT_SECONDS = 20.0
_PROGRAM = Path(__file__).with_name("json_schema_worker")


def find_schema_error(schema: object) -> str:
    """Why it is no JSON Schema; "" where it is one."""
    return "; ".join(_query_worker({"schema": schema}))


def find_schema_violations(schema: str, instance: object) -> list[str]:
    """The first places of a JSON value that do not fit a schema (JSON text), a line each."""
    return _query_worker({"schema": json.loads(schema), "instance": instance})


def _query_worker(request: dict[str, object]) -> list[str]:
    try:
        told = query_subprocess([str(_PROGRAM)], request, _TIMEOUT_SECONDS)
    except (TimeoutError, RuntimeError) as error:
        return [f"it could not be validated: {error}"]
    return [f"{path}: {message}" for path, message in told] if isinstance(told, list) else []
