"""Readers of JSON Lines, gzipped or not, and of JSON arrays."""

from __future__ import annotations

import codecs
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from greenloop.errors import InputError

_MAX_RECORD_BYTES = 200_000_000  # of one line or of a whole array
_FORMAT_HINT = " (expected: one JSON object on each line, or one array of objects)"
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
    try:
        with _open_file(path) as file:
            first = _first_byte(file)
            file.seek(0)
            yield from _read_array(file, path) if first == b"[" else _read_lines(file, path)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {why}") from None


def _open_file(path: Path) -> IO[bytes]:
    """Open by content, not by name: a browser may have unpacked a .gz file."""
    with path.open("rb") as file:
        gzipped = file.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
    if gzipped:
        return gzip.open(path, "rb")  # type: ignore[return-value]  # the caller closes it
    return path.open("rb")


def _first_byte(file: IO[bytes]) -> bytes:
    """Return the first byte of the text after a byte order mark and white space."""
    if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
        file.seek(0)
    byte = b" "
    while byte.isspace():
        byte = file.read(1)
    return byte


def _read_lines(file: IO[bytes], path: Path) -> Iterator[tuple[str, RawRecord]]:
    number = 0
    while line := file.readline(_MAX_RECORD_BYTES + 1):
        number += 1
        where = f"{path}, line {number}"
        if line.strip():
            yield where, _require_object(_parse_json(line, where, _FORMAT_HINT), where)


def _read_array(file: IO[bytes], path: Path) -> Iterator[tuple[str, RawRecord]]:
    for number, item in enumerate(_parse_json(file.read(_MAX_RECORD_BYTES + 1), str(path)), 1):
        where = f"{path}, item {number}"
        yield where, _require_object(item, where)


def _parse_json(data: bytes, where: str, hint: str = "") -> Any:
    if len(data) > _MAX_RECORD_BYTES:
        raise InputError(f"{where} is larger than {_MAX_RECORD_BYTES // 1_000_000} MB")
    try:
        return json.loads(data.decode("utf-8-sig"), parse_int=_parse_int)
    except UnicodeDecodeError as error:
        raise InputError(f"{where} is not UTF-8 text (byte {error.start})") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON: {error}{hint}") from None


def _parse_int(text: str) -> int | LongNumber:
    return int(text) if len(text) < _MAX_INT_DIGITS else LongNumber(text)


def _require_object(value: Any, where: str) -> RawRecord:
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected a JSON object with the keys of a task")
    return value
