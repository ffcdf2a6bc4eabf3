"""JSON Lines, gzipped or not, and JSON arrays, one record at a time."""

from __future__ import annotations

import codecs
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from greenloop.errors import InputError

_MOST_BYTES = 200_000_000  # of one line, or of a whole array
_A_LINE = " (read is one JSON object a line, or one array of objects)"
_GZIPPED = b"\x1f\x8b"
_MOST_DIGITS = 4000  # of a number that Python makes of text without being asked twice

Raw = dict[str, Any]


class LongNumber(str):
    """A whole number of more digits than Python reads by default: it stays as it is written."""

    def __repr__(self) -> str:
        return str(self)


def read_records(path: Path) -> Iterator[tuple[str, Raw]]:
    """Each record and where it stands, in words.

    Raises:
        InputError: the file cannot be read, or holds something else.
    """
    try:
        with _opened(path) as file:
            first = _first_byte(file)
            file.seek(0)
            yield from _array(file, path) if first == b"[" else _lines(file, path)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {why}") from None


def _opened(path: Path) -> IO[bytes]:
    """By what it holds: a browser may have unpacked a .gz and left its name."""
    with path.open("rb") as file:
        gzipped = file.read(len(_GZIPPED)) == _GZIPPED
    if gzipped:
        return gzip.open(path, "rb")  # type: ignore[return-value]  # the caller closes it
    return path.open("rb")


def _first_byte(file: IO[bytes]) -> bytes:
    """Of the text, whatever mark of its encoding stands before it."""
    if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
        file.seek(0)
    byte = b" "
    while byte.isspace():
        byte = file.read(1)
    return byte


def _lines(file: IO[bytes], path: Path) -> Iterator[tuple[str, Raw]]:
    number = 0
    while line := file.readline(_MOST_BYTES + 1):
        number += 1
        where = f"{path}, line {number}"
        if line.strip():
            yield where, _object(_parsed(line, where, _A_LINE), where)


def _array(file: IO[bytes], path: Path) -> Iterator[tuple[str, Raw]]:
    for number, item in enumerate(_parsed(file.read(_MOST_BYTES + 1), str(path)), 1):
        where = f"{path}, item {number}"
        yield where, _object(item, where)


def _parsed(data: bytes, where: str, wanted: str = "") -> Any:
    if len(data) > _MOST_BYTES:
        raise InputError(f"{where} is larger than {_MOST_BYTES // 1_000_000} MB")
    try:
        return json.loads(data.decode("utf-8-sig"), parse_int=_number)
    except UnicodeDecodeError as error:
        raise InputError(f"{where} is not UTF-8 text (byte {error.start})") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON: {error}{wanted}") from None


def _number(text: str) -> int | LongNumber:
    return int(text) if len(text) < _MOST_DIGITS else LongNumber(text)


def _object(value: Any, where: str) -> Raw:
    if not isinstance(value, dict):
        raise InputError(f"{where}: a JSON object is needed, with the keys of a task")
    return value


_MAX_TASK_BYTES = 1_000_000


def text_of(path: Path, where: str) -> str:
    """Raises InputError, which begins with `where`: it cannot be read, is too large, or no text."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_TASK_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{where}: {path} cannot be read: {why}") from None
    if len(data) > _MAX_TASK_BYTES:
        raise InputError(f"{where}: {path} is larger than 1 MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: {path} is not UTF-8 text (byte {error.start})") from None
