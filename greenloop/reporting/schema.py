"""The JSON Schema of the report (Draft 2020-12)."""

from __future__ import annotations

import json
from typing import Any

from greenloop.records import Report

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_Schema = dict[str, Any]


def build_report_schema() -> _Schema:
    """Return the schema. Later versions may add keys, so unknown ones are allowed."""
    schema = Report.model_json_schema(mode="serialization")
    _allow_unknown_keys(schema)
    return {"$schema": _DIALECT, "$id": "urn:greenloop:report:2", **schema}


def render_schema() -> str:
    """Return the schema as JSON text."""
    return json.dumps(build_report_schema(), indent=1, ensure_ascii=False) + "\n"


def _allow_unknown_keys(schema: Any) -> None:
    if isinstance(schema, dict):
        if schema.get("additionalProperties") is False:
            del schema["additionalProperties"]
        for value in schema.values():
            _allow_unknown_keys(value)
    elif isinstance(schema, list):
        for value in schema:
            _allow_unknown_keys(value)
