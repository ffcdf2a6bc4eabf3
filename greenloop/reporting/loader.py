"""Reading of saved reports, also of later versions with more keys, and their JSON Schema."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from greenloop.errors import InputError
from greenloop.records import Report
from greenloop.reporting.escaping import first_line

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def read_report(location: Path) -> Report:
    """Return the report in a run directory, or in a file.

    Raises InputError: there is none, or the file is no report.
    """
    path = location / "report.json" if location.is_dir() else location
    if not location.exists():
        raise InputError(f"{location} does not exist")
    if not path.is_file():
        why = "has no report.json"
        if location.is_dir() and (location / "run.json").is_file():
            why = f"has no report, as the run did not end; {_find_remedy(location)}"
        raise InputError(f"{location} {why}")
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {first_line(str(error))}") from None
    if not isinstance(found, dict) or "verdict" not in found or "evidence" not in found:
        raise InputError(f"{path} is JSON, but not a report of greenloop")
    try:
        return Report.model_validate_json(json.dumps(found), extra="ignore")
    except ValidationError as error:
        raise InputError(f"{path} cannot be read: {_validation_message(error)}") from None


def _find_remedy(run_dir: Path) -> str:
    """Return how to get the report of a run that did not end; a check cannot be resumed."""
    with suppress(OSError, ValueError, AttributeError):
        request = json.loads((run_dir / "run.json").read_bytes())
        if request.get("kind") == "check" and not request.get("specification"):
            return "run the check again, or name another run directory"
    return f"continue it with `greenloop resume {run_dir}`"


def _validation_message(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"])) or "the whole"
    if where == "schema_version":
        return f"its schema_version is {first_line(repr(first['input']), 40)}; this version reads 2"
    return f"{first_line(where, 80)}: {first_line(first['msg'])}"


def build_report_schema() -> dict[str, Any]:
    """Return the schema (Draft 2020-12). It allows unknown keys, as later versions may add some."""
    text = json.dumps(Report.model_json_schema(mode="serialization"))
    schema = json.loads(text, object_hook=_allow_unknown_keys)
    return {"$schema": _DIALECT, "$id": "urn:greenloop:report:2", **schema}


def render_schema() -> str:
    """Return the schema as JSON text."""
    return json.dumps(build_report_schema(), indent=1, ensure_ascii=False) + "\n"


def _allow_unknown_keys(schema: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in schema.items() if (k, v) != ("additionalProperties", False)}
