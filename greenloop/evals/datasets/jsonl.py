"""Records of JSON Lines, gzipped or not, and of JSON arrays."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from greenloop.errors import InputError
from greenloop.files import decode_text, read_bounded

_MAX_BYTES = 1_000_000_000
_GZIP_MAGIC = b"\x1f\x8b"
_MAX_INT_DIGITS = 4000  # below Python's default limit for int(text)

RawRecord = dict[str, Any]


class LongNumber(str):
    """Integer with more digits than Python converts by default, kept as text."""

    def __repr__(self) -> str:
        return str(self)


def read_records(path: Path) -> Iterator[tuple[str, RawRecord]]:
    """Yield each record with its location for messages.

    Raises:
        InputError: the file cannot be read, or has another format.
    """
    data = read_bounded(path, _MAX_BYTES)
    if data.startswith(_GZIP_MAGIC):  # by content: a browser may have unpacked a .gz file
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path} cannot be read: {error}") from None
    text = decode_text(data, str(path))
    if text.lstrip().startswith("["):
        found = enumerate(_parse_json(text, str(path)), 1)
        yield from (_require_object(item, f"{path}, item {number}") for number, item in found)
        return
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{path}, line {number}"
        if line.strip():
            yield _require_object(_parse_json(line, where), where)


def _parse_json(text: str, where: str) -> Any:
    try:
        return json.loads(text, parse_int=_parse_int)
    except (ValueError, RecursionError) as error:
        hint = "(expected: one JSON object on each line, or one array of objects)"
        raise InputError(f"{where}: not JSON: {error} {hint}") from None


def _parse_int(text: str) -> int | LongNumber:
    return int(text) if len(text) < _MAX_INT_DIGITS else LongNumber(text)


def _require_object(value: Any, where: str) -> tuple[str, RawRecord]:
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected a JSON object with the keys of a task")
    return where, value
