"""Types, parts and contents of encoded values, read without calling a method of the code.

`sandbox.guest.observation.encoder` writes the values. The host hashes and calls nothing of the
code: it rebuilds only numbers, texts and dates, to compare them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from greenloop.sandbox.guest.observation.encoder import Encoder
from greenloop.sandbox.guest.observation.values import VALUE_TYPES

_MAX_SIZE = 1 << 20
PAIRS = frozenset({"dict", "OrderedDict", "Counter", "defaultdict", "mappingproxy"})
SETS = frozenset({"set", "frozenset", "keys", "items"})
_NUMBERS = frozenset({"int", "float", "complex", "Decimal", "Fraction"})
ORDERED = _NUMBERS | {"datetime", "date", "time", "timedelta", "timezone", "bytes", "bytearray"}
OWN = "only operators of the code can compare it"


class NoEvidenceError(Exception):
    """An observation shows nothing: only operators of the code itself could compare it."""


def encode(value: Any) -> Any:
    """Return a value of the host in the encoding of observations."""
    return Encoder(_MAX_SIZE, "").encode(value)


def get_tag(value: Any) -> str:
    """Return the tag of an encoded value, or the type name of a plain one."""
    return str(value[0]) if isinstance(value, list) else type(value).__name__


def get_content(value: Any) -> Any:
    """Return the built-in value in an instance of a subclass, or in a member of an enumeration."""
    while get_tag(value) == "subclass":
        value = value[3]
    if isinstance(value, list) and value[0] == "str":
        return value[1]
    if get_tag(value) == "enum" and not isinstance(value[4], list):
        names = [name for _, name in value[1]]
        return value[4] if get_tag(value[4]) in names else value
    return value


def get_built_in(value: Any) -> Any:
    """Return a value with subclasses and enumerations reduced to built-in values at all levels."""
    content = get_content(value)
    if get_tag(content) == "int":
        return build(content)
    return [*map(get_built_in, content)] if isinstance(content, list) else content


def is_own(value: Any) -> bool:
    """Return whether a value has an `__eq__` of the code, or cannot be read."""
    tag = get_tag(value)
    if tag == "unknown":
        return True
    return tag in ("subclass", "enum", "object") and value[2] == "own"


def has_own_operators(value: Any) -> bool:
    """Return whether a value has an order, a truth or items by methods of the code."""
    tag = get_tag(value)
    return is_own(value) or (tag in ("subclass", "enum") and value[2] == "operators")


def has_own(value: Any) -> bool:
    """Return whether a value or a part of it has an `__eq__` of the code."""
    return is_own(value) or any(map(has_own, _list_parts(value)))


def _list_parts(value: Any) -> Sequence[Any]:
    match value:
        case ["subclass", _, _, content, *_] | ["enum", _, _, _, content]:
            return [content]
        case ["object", _, _, fields, *_] | ["exception", _, _, fields]:
            return list(fields.values())
        case ["class", *_]:
            return []
    return value[1:] if isinstance(value, list) else ()


def list_items(value: Any) -> list[Any]:
    """Return the items of a container. Raises NoEvidenceError: the value is no known container."""
    if has_own_operators(value):
        raise NoEvidenceError(OWN)
    value = get_content(value)
    tag = get_tag(value)
    if tag in PAIRS:
        return [pair[1] for pair in value[1:]]
    if tag in SETS | {"list", "tuple", "deque", "values"}:
        return list(value[1:])
    if tag == "ndarray":
        return list(value[2][1:])
    if tag == "str":
        return list(value)
    if tag == "range" and len(made := range(*value[1:])) <= _MAX_SIZE:
        return list(made)
    raise NoEvidenceError(OWN)


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) or get_tag(value) in _NUMBERS


def build(value: Any) -> Any:
    """Rebuild a number, a text, a date, or a list or tuple of them, as a value of the host.

    Raises NoEvidenceError: the value is something else.
    """
    value = get_content(value)
    if not isinstance(value, list):
        return value
    if value[0] in ("list", "tuple"):
        return {"list": list, "tuple": tuple}[value[0]](map(build, value[1:]))
    if value[0] not in ORDERED:
        raise NoEvidenceError(OWN)
    return VALUE_TYPES[value[0]].build(list(map(build, value[1:])))


def is_true(value: Any) -> bool:
    """Return the truth of a value. Raises NoEvidenceError: only the code could tell."""
    if has_own_operators(value) or get_tag(value) == "object":
        raise NoEvidenceError(OWN)
    content = get_content(value)
    if is_number(content) or not isinstance(content, list):
        return bool(build(content))
    if content[0] == "enum" and ["enum", "Flag"] in content[1]:
        return bool(build(content[4]))
    if content[0] in ("class", "exception", "enum"):
        return True
    if content[0] in PAIRS | SETS | {"list", "tuple", "deque"}:
        return len(content) > 1
    return bool(build(content))


def name_types(value: Any) -> list[tuple[str, str]]:
    """Return module and name of a value's class and its bases."""
    tag = get_tag(value)
    if tag in ("subclass", "enum", "object", "exception"):
        return [(module, name) for module, name in value[1]]
    kind: Any = {"class": type, "NoneType": type(None), "bool": bool, "str": str}.get(tag)
    kind = kind or (VALUE_TYPES[tag].kind if tag in VALUE_TYPES else None)
    if kind is None:
        return [("numpy" if tag == "ndarray" else "pandas", tag)]
    return [(item.__module__, item.__qualname__) for item in kind.__mro__]


def iterate_classes(value: Any) -> Iterator[list[list[str]]]:
    """Yield the bases of each class in an encoded class, or tuple of classes."""
    if get_tag(value) == "tuple":
        for item in value[1:]:
            yield from iterate_classes(item)
    elif get_tag(value) == "class":
        yield value[1]
    else:
        raise NoEvidenceError("what is expected is not a class")
