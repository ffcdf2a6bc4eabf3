"""Comparison of encoded values by Python's rules, without calling a method of the code."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from greenloop.grading.observation.values import (
    ORDERED,
    OWN,
    PAIRS,
    SETS,
    NoEvidenceError,
    build,
    get_content,
    get_tag,
    has_own_operators,
    is_number,
    is_own,
    list_items,
)

_TABLES = frozenset({"ndarray", "Series", "DataFrame", "Index"})


class AmbiguousError(NoEvidenceError):
    """A class of the code fits several expectations that exclude each other."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} meets expectations that exclude each other")
        self.name = name


def is_equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal.

    Values with an `__eq__` of the code are equal if they have the same class and the same parts.
    Raises NoEvidenceError: they do not, and only that `__eq__` could decide.
    """
    if "unknown" in (get_tag(one), get_tag(other)):
        raise NoEvidenceError(OWN)
    if _has_same_parts(one, other):
        return True
    if is_own(one) or is_own(other):
        raise NoEvidenceError(OWN)
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
    if set(tags) <= PAIRS:
        return _have_equal_pairs(one[1:], other[1:], all(tag == "OrderedDict" for tag in tags))
    if set(tags) <= SETS:
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
    if tags[0] in ORDERED:
        return one == other or bool(build(one) == build(other))
    return _are_equal_items(one[1:], other[1:])


def _have_same_fields(one: list[Any], other: list[Any]) -> bool:
    """Return whether two objects have the same class and equal values in the compared fields."""
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
    is_tagged = isinstance(value, list) and value and isinstance(value[0], str)
    if not is_tagged:  # a plain value, or a list such as that of the base classes
        return json.dumps(value)
    if value[0] == "object":  # without its number
        fields = (f"{name}={_to_text(item)}" for name, item in sorted(value[3].items()))
        return f"object({json.dumps(value[1])}, {', '.join(fields)})"
    parts = [_to_text(item) if isinstance(item, list) else json.dumps(item) for item in value[1:]]
    if value[0] in SETS | PAIRS:
        parts = sorted(map(_to_text, value[1:]))
    return f"{value[0]}({', '.join(parts)})"


def contains(container: Any, item: Any) -> bool:
    """Return whether `item in container` holds."""
    if has_own_operators(container) and not is_own(container):
        raise NoEvidenceError(OWN)
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
        raise AmbiguousError(container[1][0][1]) if is_own(container) else NoEvidenceError(OWN)
    return any(is_equal(part, item) for part in list_items(container))


def is_near(one: Any, other: Any, tolerance: tuple[float, float]) -> bool:
    """Return whether two numbers, or the numbers in two containers, are within the tolerance."""
    one, other = get_content(one), get_content(other)
    if is_number(one) and is_number(other):
        return _are_near(build(one), build(other), *tolerance)
    if get_tag(one) in PAIRS and get_tag(other) in PAIRS:
        both = [sorted(i[1:], key=lambda pair: _to_text(pair[1])) for i in (one, other)]
        return len(both[0]) == len(both[1]) and all(
            is_equal(a[1], b[1]) and is_near(a[2], b[2], tolerance)
            for a, b in zip(*both, strict=True)
        )
    if "ndarray" in (get_tag(one), get_tag(other)):
        return _are_near_arrays(one, other, tolerance)
    if {get_tag(one), get_tag(other)} <= {"list", "tuple"}:
        items = list_items(one), list_items(other)
        return len(items[0]) == len(items[1]) and all(
            is_near(a, b, tolerance) for a, b in zip(*items, strict=True)
        )
    if get_tag(one) == get_tag(other) and get_tag(one) in _TABLES:
        return len(one) == len(other) and all(
            is_near(a, b, tolerance) for a, b in zip(one[1:], other[1:], strict=True)
        )
    return is_equal(one, other)


def _are_near_arrays(one: Any, other: Any, tolerance: tuple[float, float]) -> bool:
    """Do the same for arrays and what numpy compares with them: a number with each item."""
    shapes = _read_shape(one), _read_shape(other)
    left, right = list(_iterate_items(one)), list(_iterate_items(other))
    if shapes[0] != shapes[1] and () not in shapes:
        raise NoEvidenceError("arrays of different shapes")
    if shapes[0] == ():
        left *= len(right)
    elif shapes[1] == ():
        right *= len(left)
    return len(left) == len(right) and all(
        is_near(a, b, tolerance) for a, b in zip(left, right, strict=True)
    )


def _read_shape(value: Any) -> tuple[int, ...]:
    if get_tag(value) == "ndarray":
        return tuple(value[1][1:])
    if get_tag(value) not in ("list", "tuple"):
        return ()
    return (len(value) - 1, *(_read_shape(value[1]) if len(value) > 1 else ()))


def _iterate_items(value: Any) -> Iterator[Any]:
    """Yield the items of an array, or of nested lists; a single value itself."""
    content = value[2] if get_tag(value) == "ndarray" else value
    if get_tag(content) not in ("list", "tuple"):
        yield content
    else:
        for item in content[1:]:
            yield from _iterate_items(item)


def _are_near(one: Any, other: Any, relative: float, absolute: float) -> bool:
    if one == other or (one != one and other != other):
        return True
    if isinstance(one, complex) or isinstance(other, complex):
        return bool(abs(one - other) <= max(relative * abs(other), absolute))
    return math.isclose(float(one), float(other), rel_tol=relative, abs_tol=absolute)
