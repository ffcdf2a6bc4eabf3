"""Types whose values are transferred between processes, with functions that read or build them."""

import collections
import datetime
import decimal
import fractions
import pathlib
import re
import types
import uuid
import zoneinfo
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ValueType:
    """Type whose values `read` decomposes into simpler parts, by the type's own methods.

    Numbers, bytes, dates and times are `built` from their parts, by the type itself if None.
    """

    kind: Any
    read: Callable[[Any], list[Any]]
    built: Callable[..., Any] | None = None

    def build(self, parts: list[Any]) -> Any:
        return (self.built or self.kind)(*parts)


def _from_text(kind: Any) -> ValueType:
    return ValueType(kind, lambda value: [kind.__str__(value)])


def _from_items(kind: Any) -> ValueType:
    return ValueType(kind, lambda value: list(kind.__iter__(value)))


def _from_pairs(kind: Any) -> ValueType:
    items = types.MappingProxyType.items if kind is types.MappingProxyType else dict.items
    read: Any = lambda value: list(items(value))  # noqa: E731
    return ValueType(kind, read)


def _from_attributes(kind: Any, names: str) -> ValueType:
    getters = [getattr(kind, name).__get__ for name in names.split()]
    return ValueType(kind, lambda value: [get(value) for get in getters])


_TIME = "hour minute second microsecond tzinfo"
_NAMESPACE: Any = types.SimpleNamespace
# Of a class with several of these as bases, the first in its MRO counts.
VALUE_TYPES: dict[str, ValueType] = {
    "int": ValueType(int, lambda value: [hex(int.__index__(value))], lambda text: int(text, 16)),
    "float": ValueType(float, lambda value: [float.hex(value)], float.fromhex),
    "str": _from_text(str),
    "bytes": ValueType(bytes, lambda value: [bytes.hex(value)], bytes.fromhex),
    "bytearray": ValueType(bytearray, lambda value: [bytearray.hex(value)], bytearray.fromhex),
    "complex": _from_attributes(complex, "real imag"),
    "list": _from_items(list),
    "tuple": _from_items(tuple),
    "set": _from_items(set),
    "frozenset": _from_items(frozenset),
    "deque": _from_items(collections.deque),
    "dict": _from_pairs(dict),
    "OrderedDict": _from_pairs(collections.OrderedDict),
    "Counter": _from_pairs(collections.Counter),
    "defaultdict": _from_pairs(collections.defaultdict),
    "mappingproxy": _from_pairs(types.MappingProxyType),
    "keys": _from_items(type({}.keys())),
    "values": _from_items(type({}.values())),
    "items": _from_items(type({}.items())),
    "range": _from_attributes(range, "start stop step"),
    "slice": _from_attributes(slice, "start stop step"),
    "Decimal": _from_text(decimal.Decimal),
    "Fraction": _from_text(fractions.Fraction),
    "UUID": _from_text(uuid.UUID),
    "ZoneInfo": _from_text(zoneinfo.ZoneInfo),
    "PosixPath": _from_text(pathlib.PosixPath),
    "PurePosixPath": _from_text(pathlib.PurePosixPath),
    "PureWindowsPath": _from_text(pathlib.PureWindowsPath),
    "datetime": _from_attributes(datetime.datetime, f"year month day {_TIME}"),
    "date": _from_attributes(datetime.date, "year month day"),
    "time": _from_attributes(datetime.time, _TIME),
    "timedelta": _from_attributes(datetime.timedelta, "days seconds microseconds"),
    "timezone": ValueType(
        datetime.timezone, lambda value: [datetime.timezone.utcoffset(value, None)]
    ),
    "Pattern": _from_attributes(re.Pattern, "pattern flags"),
    "SimpleNamespace": ValueType(
        _NAMESPACE, lambda value: list(object.__getattribute__(value, "__dict__").items())
    ),
    "Ellipsis": ValueType(type(...), lambda value: []),
    "NotImplemented": ValueType(type(NotImplemented), lambda value: []),
}
# Keyed by `id`, because an untrusted metaclass may compute the hash of a class.
TAGS_BY_TYPE_ID = {id(item.kind): tag for tag, item in VALUE_TYPES.items()}
