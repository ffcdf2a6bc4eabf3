"""Parsing of checks from command-line options."""

import json
from pathlib import Path

import pytest

from greenloop.errors import InputError
from greenloop.scripts.checks.options import (
    load_schema,
)


def test_schema_is_read_from_file(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('{"type": "array", "items": {"type": "integer"}}', "utf-8")
    check = load_schema(path)
    assert (check.id, check.kind, check.file) == ("prints json as in s.json", "schema", "")
    assert json.loads(check.text) == {"type": "array", "items": {"type": "integer"}}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        (b"{", "no JSON Schema"),
        (b"\xff\xfe", "no JSON Schema"),
        (b"[]", "is a list"),
        (b'{"type": "integr"}', r"not a JSON Schema: \$.type"),
        (b"[" * 100_000, "no JSON Schema"),
    ],
)
def test_invalid_schema_file_is_rejected(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "s.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=says) as caught:
        load_schema(path)
    assert "s.json" in str(caught.value)
