"""The reference of the report's keys, made from the schema: `docs/report.md`."""

import json
from collections.abc import Iterator
from typing import Any

from greenloop.reporting.loader import build_report_schema

Schema = dict[str, Any]


def render_reference() -> str:
    """Return the reference of all keys, record by record, in Markdown."""
    schema = build_report_schema()
    return "\n".join(_reference_lines(schema)).rstrip("\n") + "\n"


def _reference_lines(schema: Schema) -> Iterator[str]:
    yield from _HEAD
    yield from _record_lines("Report", schema)
    for name, record in _iterate_records(schema):
        yield from _record_lines(name, record)


def _iterate_records(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield records in the order of their first reference."""
    waiting, seen = _list_referenced_records(schema["properties"]), set[str]()
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        record = schema["$defs"][name]
        if "properties" in record:
            yield name, record
        waiting = _list_referenced_records(record.get("properties", {})) + waiting


def _list_referenced_records(properties: Any) -> list[str]:
    """Return names of the records that properties refer to, in order."""
    if isinstance(properties, dict):
        own = [properties["$ref"].rpartition("/")[2]] if "$ref" in properties else []
        return own + [
            name for value in properties.values() for name in _list_referenced_records(value)
        ]
    if isinstance(properties, list):
        return [name for value in properties for name in _list_referenced_records(value)]
    return []


def _record_lines(name: str, record: Schema) -> Iterator[str]:
    yield f"## {name}"
    yield ""
    yield record.get("description", "").strip()
    yield ""
    yield "| key | value | default |"
    yield "|---|---|---|"
    required = set(record.get("required", ()))
    for key, value in record.get("properties", {}).items():
        absent = "required" if key in required else _format_default(value)
        yield f"| `{key}` | {_format_type(value)} | {absent} |"
    yield ""


def _format_default(value: Schema) -> str:
    if "default" not in value or isinstance(value["default"], dict):
        return "empty"
    return f"`{json.dumps(value['default'], ensure_ascii=False)}`"


def _format_type(value: Schema) -> str:
    """Return a key's type in words, with links to records."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return "JSON value" if name == "JsonValue" else f"[{name}](#{name.lower()})"
    if "anyOf" in value:
        return " or ".join(_format_type(item) for item in value["anyOf"])
    if "enum" in value:
        return " · ".join(f"`{item}`" for item in value["enum"])
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    if value.get("type") == "array":
        return f"list of {_format_type(value.get('items', {}))}"
    if value.get("type") == "object":
        return f"{_format_type(value.get('additionalProperties', {}))} by name"
    kind = str(value.get("type", "anything"))
    return {"string": "text", "integer": "whole number", "boolean": "true or false"}.get(kind, kind)


_HEAD = (
    "# The report",
    "",
    "<!-- Made by `python -m tests.support.references` from the schema. -->",
    "",
    "Every run writes its report as `report.json` to its run directory, and `--json` prints it. "
    "`greenloop report --schema` prints the JSON Schema.",
    "",
    "Within a `schema_version` keys are only added, so readers should ignore unknown keys. The last "
    "column is the value for older reports that lack the key.",
    "",
)
