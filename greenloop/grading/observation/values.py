"""Comparison of encoded values, as Python compares them, without a method of the code.

Values are what `sandbox.guest.observation.encoder` writes. Nothing of the code is hashed or called
on the host: only numbers, texts and dates are built again, to be put in order.
"""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from greenloop.sandbox.guest.observation.encoder import Encoder
from greenloop.sandbox.guest.observation.values import VALUE_TYPES

_MAX_SIZE = 1 << 20
_PAIRS = frozenset({"dict", "OrderedDict", "Counter", "defaultdict", "mappingproxy"})
_SETS = frozenset({"set", "frozenset", "keys", "items"})
_TABLES = frozenset({"ndarray", "Series", "DataFrame", "Index"})
_NUMBERS = frozenset({"int", "float", "complex", "Decimal", "Fraction"})
_ORDERED = _NUMBERS | {"datetime", "date", "time", "timedelta", "timezone", "bytes", "bytearray"}
_OWN = "only operators of the code can compare it"


class NoEvidenceError(Exception):
    """What was observed shows nothing: only operators of the code itself could compare it."""


class AmbiguousError(NoEvidenceError):
    """A class of the code fits several expectations that exclude each other."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} fits expectations that exclude each other")
        self.name = name


def encode(value: Any) -> Any:
    """Return a value of the host as an observed value."""
    return Encoder(_MAX_SIZE, "").encode(value)


def get_tag(value: Any) -> str:
    """Return the tag of an encoded value; of plain ones the name of their type."""
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
    """Return a value without subclasses and enumerations, at any level."""
    content = get_content(value)
    if get_tag(content) == "int":
        return build(content)
    return [*map(get_built_in, content)] if isinstance(content, list) else content


def is_own(value: Any) -> bool:
    """Return whether a value has an equality of the code, or cannot be read."""
    tag = get_tag(value)
    if tag == "unknown":
        return True
    return tag in ("subclass", "enum", "object") and value[2] == "own"


def has_own(value: Any) -> bool:
    """Return whether a value or a part of it has an equality of the code."""
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


def is_equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal.

    Those with an equality of the code are where they have the same class and the same parts.
    Raises NoEvidenceError: they have not, and an equality of the code may say something else.
    """
    if "unknown" in (get_tag(one), get_tag(other)):
        raise NoEvidenceError(_OWN)
    if _has_same_parts(one, other):
        return True
    if is_own(one) or is_own(other):
        raise NoEvidenceError(_OWN)
    return False


def _has_same_parts(one: Any, other: Any) -> bool:
    if get_tag(one) == get_tag(other) == "enum":
        if one[1][0] == other[1][0] and one[3] != other[3] and is_own(one):
            raise AmbiguousError(one[1][0][1])
        return bool(one[1][0] == other[1][0] and one[3] == other[3])
    if get_tag(one) == get_tag(other) == "object":
        return _have_same_fields(one, other)
    one, other = get_content(one), get_content(other)
    tags = get_tag(one), get_tag(other)
    if is_number(one) and is_number(other):
        left, right = build(one), build(other)
        return bool(left == right or (left != left and right != right))
    if set(tags) <= _PAIRS:
        return _have_equal_pairs(one[1:], other[1:], all(tag == "OrderedDict" for tag in tags))
    if set(tags) <= _SETS:
        return _are_equal_items(*(sorted(item[1:], key=_to_text) for item in (one, other)))
    if "ndarray" in tags and set(tags) <= {"ndarray", "list"}:
        return is_equal(
            *(item[-1] if get_tag(item) == "ndarray" else item for item in (one, other))
        )
    if tags[0] != tags[1]:
        return {*tags} == {"bytes", "bytearray"} and one[1] == other[1]
    if not isinstance(one, list):
        return bool(one == other)
    if tags[0] == "class":
        return bool(one[1][0] == other[1][0])
    if tags[0] == "exception":
        return bool(one[1][0] == other[1][0] and one[2:] == other[2:])
    if tags[0] in _ORDERED:
        return one == other or bool(build(one) == build(other))
    return _are_equal_items(one[1:], other[1:])


def _have_same_fields(one: list[Any], other: list[Any]) -> bool:
    """Return whether two objects are of one class, and have the same in the fields that count."""
    if "identity" in (one[2], other[2]) and one[5] != other[5]:
        return False
    names = one[3].keys() - set(one[4])
    if one[1][0] != other[1][0] or names != other[3].keys() - set(other[4]):
        return False
    if not names and is_own(one):
        return False
    if not all(is_equal(one[3][name], other[3][name]) for name in sorted(names)):
        return False
    if one[3].keys() != other[3].keys() or any(one[3][i] != other[3][i] for i in one[4]):
        raise NoEvidenceError("fields that are left out of the comparison differ")
    return True


def _have_equal_pairs(one: list[Any], other: list[Any], is_ordered: bool) -> bool:
    if not is_ordered:
        one, other = (sorted(item, key=lambda pair: _to_text(pair[1])) for item in (one, other))
    return _are_equal_items(one, other)


def _are_equal_items(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(map(is_equal, one, other))


def have_equal_items(one: Any, other: Any) -> bool:
    """Return whether two containers have the same items in any order."""
    return _are_equal_items(*(sorted(list_items(item), key=_to_text) for item in (one, other)))


def _to_text(value: Any) -> str:
    """Return a text that is the same for equal values."""
    value = get_content(value)
    if is_number(value):
        return f"number {hash(build(value))}"
    if not isinstance(value, list):
        return json.dumps(value)
    parts = [_to_text(item) if isinstance(item, list) else json.dumps(item) for item in value[1:]]
    if value[0] in _SETS | _PAIRS:
        parts = sorted(map(_to_text, value[1:]))
    return f"{value[0]}({', '.join(parts)})"


def list_items(value: Any) -> list[Any]:
    """Return what an iteration over a container gives. Raises NoEvidenceError for others."""
    value = get_content(value)
    tag = get_tag(value)
    if tag in _PAIRS:
        return [pair[1] for pair in value[1:]]
    if tag in _SETS | {"list", "tuple", "deque", "values"}:
        return list(value[1:])
    if tag == "ndarray":
        return list(value[2][1:])
    if tag == "str":
        return list(value)
    if tag == "range" and len(made := range(*value[1:])) <= _MAX_SIZE:
        return list(made)
    raise NoEvidenceError(_OWN)


def contains(container: Any, item: Any) -> bool:
    """Return whether `item in container` holds."""
    container = get_content(container)
    if get_tag(container) == get_tag(get_content(item)) in ("str", "bytes"):
        parts = [
            part if isinstance(part, str) else part[1] for part in (get_content(item), container)
        ]
        return bool(parts[0] in parts[1])
    flags = [item[4] for item in (container, item) if get_tag(item) == "enum"]
    if len(flags) == 2 and all(isinstance(flag, int) for flag in flags):
        if flags[0] & flags[1] == flags[1]:
            return True
        raise AmbiguousError(container[1][0][1]) if is_own(container) else NoEvidenceError(_OWN)
    return any(is_equal(part, item) for part in list_items(container))


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) or get_tag(value) in _NUMBERS


def build(value: Any) -> Any:
    """Return a number, a text, a date or a list of such as a value of the host.

    Raises NoEvidenceError: it is something else.
    """
    value = get_content(value)
    if not isinstance(value, list):
        return value
    if value[0] in ("list", "tuple"):
        return {"list": list, "tuple": tuple}[value[0]](map(build, value[1:]))
    if value[0] not in _ORDERED:
        raise NoEvidenceError(_OWN)
    return VALUE_TYPES[value[0]].build(list(map(build, value[1:])))


def is_near(one: Any, other: Any, tolerance: tuple[float, float]) -> bool:
    """Return whether numbers, also those in containers, are near each other."""
    one, other = get_content(one), get_content(other)
    if is_number(one) and is_number(other):
        return _are_near(build(one), build(other), *tolerance)
    if get_tag(one) in _PAIRS and get_tag(other) in _PAIRS:
        both = [sorted(i[1:], key=lambda pair: _to_text(pair[1])) for i in (one, other)]
        return len(both[0]) == len(both[1]) and all(
            is_equal(a[1], b[1]) and is_near(a[2], b[2], tolerance)
            for a, b in zip(*both, strict=True)
        )
    if {get_tag(one), get_tag(other)} <= {"list", "tuple", "ndarray"}:
        items = list_items(one), list_items(other)
        return len(items[0]) == len(items[1]) and all(
            is_near(a, b, tolerance) for a, b in zip(*items, strict=True)
        )
    if get_tag(one) == get_tag(other) and get_tag(one) in _TABLES:
        return len(one) == len(other) and all(
            is_near(a, b, tolerance) for a, b in zip(one[1:], other[1:], strict=True)
        )
    return is_equal(one, other)


def _are_near(one: Any, other: Any, relative: float, absolute: float) -> bool:
    if one == other or (one != one and other != other):
        return True
    if isinstance(one, complex) or isinstance(other, complex):
        return bool(abs(one - other) <= max(relative * abs(other), absolute))
    return math.isclose(float(one), float(other), rel_tol=relative, abs_tol=absolute)


def is_true(value: Any) -> bool:
    """Return what `bool` says of a value. Raises NoEvidenceError."""
    if is_own(value) or get_tag(value) == "object":
        raise NoEvidenceError(_OWN)
    content = get_content(value)
    if is_number(content) or not isinstance(content, list):
        return bool(build(content))
    if content[0] in ("class", "exception", "enum"):
        return True
    if content[0] in _PAIRS | _SETS | {"list", "tuple", "deque"}:
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
