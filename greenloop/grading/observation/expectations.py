"""Comparison of observations with the tests' expectations, on the host."""

import builtins
import itertools
import json
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from greenloop.grading.observation.equality import (
    AmbiguousError,
    contains,
    have_equal_items,
    is_equal,
    is_near,
)
from greenloop.grading.observation.values import (
    OWN,
    NoEvidenceError,
    build,
    encode,
    get_tag,
    has_own,
    has_own_operators,
    is_number,
    is_true,
    iterate_classes,
    list_items,
    name_types,
)
from greenloop.testsuite.programs import Expectation

Payloads = Mapping[int, dict[str, Any]]
_ORDERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
# Modules of classes that an instance need not have among its bases.
_VIRTUAL = ("collections.abc", "numbers", "typing", "abc")
_SETS = ("set", "frozenset", "keys")
# A pattern that repeats a group can take forever on a text made for it.
_REPEATED_GROUP = re.compile(r"(?<!\\)\)[*+{?]|\\[1-9]|\(\?P=")
_REPETITION = re.compile(r"(?<!\\)[*+{]")
_MAX_REPETITIONS, _MAX_TEXT = 4, 250


def holds(item: Expectation, seen: Payloads) -> bool:
    """Return whether an observation meets a test's expectation.

    Raises NoEvidenceError: only operators of the code could compare the two.
    """
    payload = seen.get(item.number)
    if payload is None:
        return False
    try:
        if item.kind == "raises" or item.kind.startswith("text "):
            return "error" in payload and _fits(item, payload["error"], seen)
        if "value" not in payload:
            return False
        if payload.get("own"):
            raise NoEvidenceError("the value was made by an operator of the code")
        return _compare(item, payload["value"], seen)
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError):
        return False  # a malformed or incomparable value: untrusted code may have written it


def _get_expected(item: Expectation, seen: Payloads) -> Any:
    if item.other is None:
        return encode(item.expected)
    payload = seen.get(item.other, {})
    if payload.get("own"):
        raise NoEvidenceError("the expected value was made by an operator of the code")
    return payload["value"]


def _list_classes(item: Expectation, seen: Payloads) -> list[list[tuple[str, str]]]:
    """Return each expected class as the list of itself and its bases."""
    if item.other is None:
        kind = getattr(builtins, str(item.expected))
        return [[(base.__module__, base.__qualname__) for base in kind.__mro__]]
    found = iterate_classes(_get_expected(item, seen))
    return [[(module, name) for module, name in bases] for bases in found]


def _fits(item: Expectation, error: list[Any], seen: Payloads) -> bool:
    """Return whether an exception has an expected class, or its text fits the expected one."""
    _, bases, text, attributes = error
    if item.kind != "raises":
        notes = attributes.get("__notes__", ["list"])
        whole = "\n".join([text, *(i for i in notes[1:] if isinstance(i, str))])
        if item.kind == "text has":
            return bool(item.expected in whole)
        return search(item.expected, whole)
    names = [(module, name) for module, name in bases]
    _check_bases(names)
    return any(classes[0] in names for classes in _list_classes(item, seen))


def _check_bases(names: list[tuple[str, str]]) -> None:
    """Raise AmbiguousError for a class of the code that unrelated `except` clauses would catch."""
    kinds = [getattr(builtins, name, None) for module, name in names if module == "builtins"]
    known = [kind for kind in kinds if isinstance(kind, type)]
    if names[0][0] == "builtins":
        return
    for kind, other in itertools.pairwise(known):
        if not issubclass(kind, other):
            raise AmbiguousError(names[0][1])


def _compare(item: Expectation, value: Any, seen: Payloads) -> bool:
    kind = item.kind.removeprefix("not ")
    if kind == "truth":
        return is_true(value) is item.expected
    if kind == "class":
        return _is_instance(item, value, seen) == (item.kind == "class")
    expected = _get_expected(item, seen)
    if kind == "near":
        return is_near(value, expected, item.tolerance) == (item.kind == "near")
    if kind == "match":
        return search(expected, value)
    if kind == "unordered":
        return have_equal_items(value, expected)
    if kind == "array":
        return is_near(value, expected, (0.0, 0.0))
    return _apply(item.kind, value, expected)


def _apply(op: str, value: Any, expected: Any) -> bool:
    if op.startswith("not ") and op != "not in":  # of sets and `nan` the opposite order is another
        return not _apply(op.removeprefix("not "), value, expected)
    if op in ("==", "!="):
        if get_tag(value) == get_tag(expected) == "float" and build(value) != build(value):
            return op == "!="  # `nan` equals itself only inside a container
        if op == "!=" and (has_own(value) or has_own(expected)):
            raise NoEvidenceError("an `==` of the code decides")
        return is_equal(value, expected) == (op == "==")
    if op in ("is", "is not"):
        is_same = get_tag(value) == get_tag(expected) and is_equal(value, expected)
        return is_same == (op == "is")
    if op in _ORDERS:
        if has_own_operators(value) or has_own_operators(expected):
            raise NoEvidenceError(OWN)
        if get_tag(value) in _SETS and get_tag(expected) in _SETS:
            both = [{json.dumps(i) for i in list_items(side)} for side in (value, expected)]
            return bool(_ORDERS[op](*both))
        return bool(_ORDERS[op](build(value), build(expected)))
    container, part = (value, expected) if op.startswith("has") else (expected, value)
    return contains(container, part) == (op in ("in", "has"))


def _is_instance(item: Expectation, value: Any, seen: Payloads) -> bool:
    names = name_types(value)
    classes = _list_classes(item, seen)
    if any(bases[0] in names for bases in classes):
        return True
    if any(bases[0][0] in _VIRTUAL or ("typing", "Protocol") in bases for bases in classes):
        raise NoEvidenceError("the classes of the code decide whether it is an instance")
    if is_number(value) and any(bases[0][0].partition(".")[0] == "numpy" for bases in classes):
        raise NoEvidenceError("numbers are observed without their class of numpy")
    return False


def search(pattern: str, text: str) -> bool:
    """Return whether a pattern is found in a text.

    Raises NoEvidenceError: the search might take too long.
    """
    count = len(_REPETITION.findall(pattern))
    is_long = count > _MAX_REPETITIONS or (count > 1 and len(text) > _MAX_TEXT)
    if is_long or _REPEATED_GROUP.search(pattern):
        raise NoEvidenceError("a regular expression that might take too long")
    return re.search(pattern, text) is not None
