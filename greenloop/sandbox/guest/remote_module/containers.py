"""Lists, dicts and their like: how their content is read and replaced, by their type's own methods."""

from __future__ import annotations

import base64
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Recurse = Callable[[Any], Any]


@dataclass(frozen=True)
class Kind:
    """`read(value, encode)` gives JSON; `fill(value, content, decode)` puts it into an object."""

    type: type
    tag: str
    make: Callable[[], Any]
    read: Callable[[Any, Recurse], Any]
    fill: Callable[[Any, Any, Recurse], None]


def _read_list(value: Any, encode: Recurse) -> Any:
    return [encode(item) for item in list.__iter__(value)]


def _fill_list(value: Any, content: Any, decode: Recurse) -> None:
    list.__setitem__(value, slice(None), [decode(item) for item in content])


def _read_dict(value: Any, encode: Recurse) -> Any:
    return [[encode(key), encode(item)] for key, item in dict.items(value)]


def _fill_dict(value: Any, content: Any, decode: Recurse) -> None:
    pairs = [(decode(key), decode(item)) for key, item in content]
    dict.clear(value)
    for key, item in pairs:
        dict.__setitem__(value, key, item)


def _fill_ordered(value: Any, content: Any, decode: Recurse) -> None:
    pairs = [(decode(key), decode(item)) for key, item in content]
    OrderedDict.clear(value)
    for key, item in pairs:
        OrderedDict.__setitem__(value, key, item)


def _read_default(value: Any, encode: Recurse) -> Any:
    return [encode(value.default_factory), _read_dict(value, encode)]


def _fill_default(value: Any, content: Any, decode: Recurse) -> None:
    value.default_factory = decode(content[0])
    _fill_dict(value, content[1], decode)


def _read_set(value: Any, encode: Recurse) -> Any:
    return [encode(item) for item in set.__iter__(value)]


def _fill_set(value: Any, content: Any, decode: Recurse) -> None:
    items = [decode(item) for item in content]
    set.clear(value)
    set.update(value, items)


def _read_deque(value: Any, encode: Recurse) -> Any:
    return [value.maxlen, [encode(item) for item in deque.__iter__(value)]]


def _fill_deque(value: Any, content: Any, decode: Recurse) -> None:
    if value.maxlen != content[0]:
        deque.__init__(value, (), content[0])
    items = [decode(item) for item in content[1]]
    deque.clear(value)
    deque.extend(value, items)


def _read_bytes(value: Any, _: Recurse) -> Any:
    return base64.b64encode(bytearray.__getitem__(value, slice(None))).decode()


def _fill_bytes(value: Any, content: Any, _: Recurse) -> None:
    bytearray.__setitem__(value, slice(None), base64.b64decode(content, validate=True))


# The special before the general: an OrderedDict is a dict too.
KINDS = (
    Kind(list, "list", list, _read_list, _fill_list),
    Kind(OrderedDict, "ordered", OrderedDict, _read_dict, _fill_ordered),
    Kind(defaultdict, "default", defaultdict, _read_default, _fill_default),
    Kind(Counter, "counter", Counter, _read_dict, _fill_dict),
    Kind(dict, "dict", dict, _read_dict, _fill_dict),
    Kind(set, "set", set, _read_set, _fill_set),
    Kind(deque, "deque", deque, _read_deque, _fill_deque),
    Kind(bytearray, "bytearray", bytearray, _read_bytes, _fill_bytes),
)
BY_TYPE = {kind.type: kind for kind in KINDS}
BY_TAG = {kind.tag: kind for kind in KINDS}


def kind_of(value: Any) -> Kind | None:
    """The kind of a container, also of a subclass; None where it is none."""
    exact = BY_TYPE.get(type(value))
    if exact is not None:
        return exact
    return next((kind for kind in KINDS if issubclass(type(value), kind.type)), None)
