"""Values that cross as what they are: numbers, text, dates, paths …, in JSON with tags.

A subclass of one of these types crosses as the type itself, read by the methods of that type: what
its own methods say does not matter. Numbers, text, truth and None are JSON's own; else a list whose
first item is the tag.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import fractions
import pathlib
import re
import uuid
from collections.abc import Callable
from typing import Any

from .errors import CannotSplit

_EXACT = 1 << 53  # JSON readers agree on numbers up to here
_SURROGATES = re.compile("[\ud800-\udfff]")


def number(value: int) -> Any:
    plain = int.__index__(value)
    return plain if -_EXACT < plain < _EXACT else ["i", hex(plain)]


def text(value: str) -> Any:
    plain = str.__str__(value) if type(value) is not str else value
    if type(plain) is not str:  # a subclass whose __str__ is the inherited one gives itself
        plain = str.encode(value, "utf-8", "surrogatepass").decode("utf-8", "surrogatepass")
    if _SURROGATES.search(plain):
        return ["s", plain.encode("utf-8", "surrogatepass").hex()]
    return plain


def _bytes(value: bytes) -> str:
    return base64.b64encode(bytes.__getitem__(value, slice(None))).decode()


def _read_only(view: memoryview) -> bytes:
    if not view.readonly:
        raise CannotSplit("a memoryview that can be written to is not shared with the code")
    return bytes(view)


def _moment(value: datetime.datetime) -> list[Any]:
    return [datetime.datetime.isoformat(value), _zone(value.tzinfo), value.fold]


def _zone(zone: Any) -> Any:
    if zone is None:
        return None
    if type(zone) is datetime.timezone:
        return ["fixed", zone.utcoffset(None).total_seconds(), zone.tzname(None)]
    if type(zone).__module__ == "zoneinfo" and isinstance(zone.key, str):
        return ["named", zone.key]
    raise TypeError("a time zone of its own kind")


def _zone_back(content: Any) -> datetime.tzinfo | None:
    if content is None:
        return None
    if content[0] == "named":
        import zoneinfo

        return zoneinfo.ZoneInfo(str(content[1]))
    offset = datetime.timedelta(seconds=float(content[1]))
    plain = datetime.timezone(offset)
    same = plain.tzname(None) == content[2]
    return plain if same else datetime.timezone(offset, str(content[2]))


def _moment_back(content: Any) -> datetime.datetime:
    found = datetime.datetime.fromisoformat(str(content[0])).replace(tzinfo=None)
    return found.replace(tzinfo=_zone_back(content[1]), fold=int(content[2]))


def _time(value: datetime.time) -> list[Any]:
    return [datetime.time.isoformat(value.replace(tzinfo=None)), _zone(value.tzinfo)]


def _time_back(content: Any) -> datetime.time:
    return datetime.time.fromisoformat(str(content[0])).replace(tzinfo=_zone_back(content[1]))


def _path_back(content: Any) -> Any:
    kind = {"p": pathlib.PurePosixPath, "w": pathlib.PureWindowsPath}.get(content[0], pathlib.Path)
    return kind(str(content[1]))


def _path(value: pathlib.PurePath) -> list[str]:
    flavour = "P" if isinstance(value, pathlib.Path) else "p"
    return ["w" if isinstance(value, pathlib.PureWindowsPath) else flavour, str(value)]


def _delta(value: datetime.timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


# Type, tag, to JSON, from JSON. The order matters where one type is a subclass of another.
_KINDS: tuple[tuple[type, str, Callable[[Any], Any], Callable[[Any], Any]], ...] = (
    (
        complex,
        "c",
        lambda v: [v.real.hex(), v.imag.hex()],
        lambda c: complex(*map(float.fromhex, c)),
    ),
    (bytes, "b", _bytes, lambda c: base64.b64decode(c, validate=True)),
    (
        memoryview,
        "view",
        lambda v: _bytes(_read_only(v)),
        lambda c: memoryview(base64.b64decode(c)),
    ),
    (decimal.Decimal, "dec", decimal.Decimal.__str__, lambda c: decimal.Decimal(str(c))),
    (
        fractions.Fraction,
        "frac",
        lambda v: [hex(v.numerator), hex(v.denominator)],
        lambda c: fractions.Fraction(int(c[0], 16), int(c[1], 16)),
    ),
    (datetime.datetime, "datetime", _moment, _moment_back),
    (
        datetime.date,
        "date",
        datetime.date.isoformat,
        lambda c: datetime.date.fromisoformat(str(c)),
    ),
    (datetime.time, "time", _time, _time_back),
    (datetime.timedelta, "delta", _delta, lambda c: datetime.timedelta(*map(int, c))),
    (datetime.timezone, "zone", _zone, _zone_back),
    (pathlib.PurePath, "path", _path, _path_back),
    (uuid.UUID, "uuid", str, lambda c: uuid.UUID(str(c))),
    (
        re.Pattern,
        "pattern",
        lambda v: [v.pattern, v.flags],
        lambda c: re.compile(str(c[0]), int(c[1])),
    ),
)
_BACK = {tag: back for _, tag, _, back in _KINDS}
_TO = {kind: (tag, to) for kind, tag, to, _ in _KINDS}
VALUE_TYPES: tuple[type, ...] = (bool, int, float, str, *(kind for kind, _, _, _ in _KINDS))


def exact(value: Any) -> Any:
    """A value of exactly one of these types in JSON; None where it is of none of them."""
    kind = type(value)
    if kind is int:
        return number(value)
    if kind is str:
        return text(value)
    if kind is float:
        return value
    if kind in _TO:
        tag, to = _TO[kind]
        return [tag, to(value)]
    if issubclass(kind, pathlib.PurePath) and kind.__module__.startswith("pathlib"):
        return ["path", _path(value)]
    if value is Ellipsis or value is NotImplemented:
        return ["...", value is Ellipsis]
    return None


def collapsed(value: Any) -> Any:
    """An instance of a subclass in JSON, as if it were of the type; None where there is none."""
    if isinstance(value, int):
        return number(value)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return float.__add__(value, 0.0) if float.__ne__(value, 0.0) else float.__float__(value)
    for kind, tag, to, _ in _KINDS:
        if issubclass(type(value), kind):
            return [tag, to(value)]
    return None


def back(tag: Any, content: Any) -> Any:
    """From JSON. Raises LookupError where the tag is none of these, or what the type raises."""
    if tag == "i":
        return int(content, 16)
    if tag == "s":
        return bytes.fromhex(content).decode("utf-8", "surrogatepass")
    if tag == "...":
        return Ellipsis if content else NotImplemented
    return _BACK[tag](content)
