"""The JSON Schema of the report (Draft 2020-12)."""

from __future__ import annotations

import json
from typing import Any

from greenloop.records import Report

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def build_report_schema() -> dict[str, Any]:
    """Return the schema. Later versions may add keys, so unknown ones are allowed."""
    text = json.dumps(Report.model_json_schema(mode="serialization"))
    schema = json.loads(text, object_hook=_allow_unknown_keys)
    return {"$schema": _DIALECT, "$id": "urn:greenloop:report:2", **schema}


def render_schema() -> str:
    """Return the schema as JSON text."""
    return json.dumps(build_report_schema(), indent=1, ensure_ascii=False) + "\n"


def _allow_unknown_keys(schema: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in schema.items() if (k, v) != ("additionalProperties", False)}
