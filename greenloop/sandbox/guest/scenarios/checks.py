"""Observations as the tests see them, and the comparisons that tests make."""

from __future__ import annotations

import builtins
import collections
import itertools
import json
import math
import re
import types
from abc import ABCMeta
from collections.abc import Iterable, Iterator
from typing import Any

from ..protocol.reasons import AMBIGUOUS_EXCEPTION
from .decoder import decode, decode_exception, has_objects
from .descriptions import NotObservableError, describe
from .stand_ins import (
    ClassStandIn,
    EnumMember,
    ObservedException,
    Opaque,
    name_bases,
    type_of,
)
from .value_types import VALUE_TYPES

_RELATIVE_TOLERANCE, _ABSOLUTE_TOLERANCE = 1e-9, 1e-12
_SCALARS = (int, float, str, bytes, complex)
_PLAIN_TYPES = (bool, *_SCALARS, tuple, list, set, frozenset, dict)


class DiffersError(BaseException):
    """The code did not do what the test expects."""


class Observation:
    """One observation: a value or an exception, and the warnings meanwhile.

    `has_objects` says whether a value was asked for that may have operators of its own.
    """

    def __init__(self, payload: str | None) -> None:
        self._payload = payload
        self.has_objects = False

    def _load(self) -> dict[str, Any]:
        if self._payload is None:
            raise DiffersError("no observation")
        try:
            loaded = json.loads(self._payload)
        except (ValueError, RecursionError):
            loaded = None
        if not isinstance(loaded, dict):
            raise DiffersError("an observation that cannot be read")
        return loaded

    def __call__(self, function: str = "") -> Any:
        """Return the value, or what a function of builtins says of it."""
        loaded = self._load()
        self._check(loaded)
        applied = loaded.get("applied", {}).get(function)
        if applied is not None:
            self._check(applied)
            return self._decode(applied["value"])
        value = self._decode(loaded["value"])
        return value if function in ("", "iterable") else getattr(builtins, function)(value)

    def _decode(self, content: Any) -> Any:
        self.has_objects = self.has_objects or has_objects(content)
        return decode(content)

    def _check(self, loaded: dict[str, Any]) -> None:
        if "unavailable" in loaded:
            raise DiffersError("nothing to observe: the code raised an exception before")
        if "error" in loaded:
            _, bases, text, *_ = loaded["error"]
            raise DiffersError(f"raised {bases[0][1]}: {text}")

    def check_completed(self) -> None:
        """Check that no exception was raised."""
        self._check(self._load())

    def get_exception(self) -> ObservedException | None:
        """Return the exception that was raised."""
        loaded = self._load()
        return decode_exception(*loaded["error"][1:]) if "error" in loaded else None

    def get_warnings(self) -> Iterator[ObservedException]:
        """Yield the warnings."""
        for bases, text in self._load().get("warnings", ()):
            yield decode_exception(bases, text, {})


class Raised:
    """An exception that was expected, as `pytest.raises` and `assertRaises` give it."""

    def __init__(self, value: ObservedException) -> None:
        self.value = self.exception = self.message = value
        self.type = self.category = type_of(value)
        self.typename = value.observed__.name[1]

    def match(self, pattern: Any) -> bool:
        """Check the text of the exception."""
        if not re.search(pattern, str(self.value)):
            raise DiffersError(f"the text {str(self.value)!r} does not match")
        return True


def _flatten(expected: Any) -> Iterator[Any]:
    if isinstance(expected, (tuple, types.UnionType)):
        for item in expected if isinstance(expected, tuple) else expected.__args__:
            yield from _flatten(item)
    else:
        yield expected


def fits(error: ObservedException, expected: Any, pattern: Any) -> bool:
    bases = name_bases(type_of(error))
    _check_exception_bases(bases)
    notes = error.observed__.fields.get("__notes__", [])
    text = "\n".join([str(error), *(notes if isinstance(notes, list) else [])])
    is_expected = any(name_bases(kind)[0] in bases for kind in _flatten(expected))
    return is_expected and (pattern is None or re.search(pattern, text) is not None)


def _check_exception_bases(bases: list[tuple[str, str]]) -> None:
    """Refuse a class of the code that several `except` clauses would catch."""
    known = [getattr(builtins, name, None) for module, name in bases if module == "builtins"]
    kinds = [kind for kind in known if isinstance(kind, type)]
    if kinds and name_bases(kinds[0]) == bases:  # a built-in class itself
        return
    for kind, other in itertools.pairwise(kinds):
        if not issubclass(kind, other):
            raise NotObservableError(f"{bases[0][1]} {AMBIGUOUS_EXCEPTION}")


def is_instance(value: Any, expected: Any) -> bool:
    """Return `isinstance` of a value."""
    return any(_is_instance(value, kind) for kind in _flatten(expected))


def _is_instance(value: Any, kind: Any) -> bool:
    if not isinstance(kind, (type, ClassStandIn)):
        return isinstance(value, kind)
    if isinstance(value, ClassStandIn):
        return kind in (type, object)
    if name_bases(kind)[0] in name_bases(type_of(value)):
        return True
    if ("typing", "Protocol") in name_bases(kind):
        raise NotObservableError("isinstance with a protocol")
    if isinstance(value, Opaque) and isinstance(kind, ABCMeta):
        raise value.observed__.refuse(f"whether it is a {kind.__name__}")
    return isinstance(kind, type) and not isinstance(value, Opaque) and isinstance(value, kind)


def is_subclass(kind: Any, expected: Any) -> bool:
    """Return `issubclass` of a class or its stand-in."""
    names = name_bases(kind)
    return any(name_bases(item)[0] in names for item in _flatten(expected))


def is_same(left: Any, right: Any) -> bool:
    """Return whether two values are one object, where that can be told of copies."""
    if left is right:
        return True
    for kind in (EnumMember, ClassStandIn):
        if isinstance(left, kind) or isinstance(right, kind):
            return bool(left == right)
    described = describe(left), describe(right)
    if described[0] and described[1] and "name" in described[0].fields:
        return bool(left == right)
    if type_of(left) != type_of(right) or left is None:
        return False
    if isinstance(left, _SCALARS):
        return bool(left == right)
    raise NotObservableError("identity of two objects")


def is_strictly_equal(expected: Any, got: Any) -> bool:
    """Whether two values are equal in value and built-in type at every level; floats to nine digits."""
    expected, got = _as_built_in(expected), _as_built_in(got)
    if type(expected) is not type(got):
        return False
    if isinstance(expected, float):
        both_nan = math.isnan(expected) and math.isnan(got)
        return both_nan or math.isclose(
            expected, got, rel_tol=_RELATIVE_TOLERANCE, abs_tol=_ABSOLUTE_TOLERANCE
        )
    if isinstance(expected, (list, tuple)):
        return len(expected) == len(got) and all(map(is_strictly_equal, expected, got))
    if isinstance(expected, dict):
        return is_strictly_equal(expected.keys(), got.keys()) and all(
            is_strictly_equal(expected[key], got[key]) for key in expected
        )
    if isinstance(expected, (set, frozenset, collections.abc.KeysView)):
        theirs = {item: item for item in got}  # equal is not enough: 1 == True
        return expected == got and all(is_strictly_equal(item, theirs[item]) for item in expected)
    return bool(expected == got)


def _as_built_in(value: Any) -> Any:
    """Return an instance of a subclass of a built-in type as one of that type."""
    kind = next((kind for kind in _PLAIN_TYPES if isinstance(value, kind)), type(value))
    if type(value) is kind:
        return value
    _, read, build = VALUE_TYPES[kind.__name__]
    return build(read(value))


def count_equal(left: Iterable[Any], right: Iterable[Any]) -> bool:
    """Return whether both have the same items, in any order."""
    left, right = list(left), list(right)
    try:
        return collections.Counter(left) == collections.Counter(right)
    except TypeError:  # some cannot be hashed
        for item in left:
            if item not in right:
                return False
            right.remove(item)
        return not right


def almost_equal(left: Any, right: Any, places: int | None, delta: Any) -> bool:
    """Return whether two numbers are as near as `assertAlmostEqual` asks."""
    if left == right:
        return True
    difference = abs(left - right)
    return bool(
        difference <= delta
        if delta is not None
        else round(difference, 7 if places is None else places) == 0
    )


def re_search(pattern: Any, text: str) -> bool:
    """Return whether a pattern is found in a text."""
    return re.search(pattern, text) is not None
