"""Comparison of two programs' answers in the encoding of `sandbox.guest.observation.encoder`.

Nothing is decoded: the host never hashes or compares values of the programs.
"""

import json
import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from greenloop.grading.observation.values import get_built_in
from greenloop.grading.peer.names import Names

_RELATIVE_TOLERANCE, _ABSOLUTE_TOLERANCE = 1e-9, 1e-12
_UNORDERED = ("set", "frozenset", "keys", "dict", "Counter", "defaultdict", "mappingproxy", "items")
# Exceptions that come from the limits of a process, and show no difference of the programs.
_OF_LIMITS = ("MemoryError", "CpuTimeExceeded")
# Exceptions of an input that the precondition excludes, or that makes no sense by itself.
_REFUSED = "InputNotAllowed"
_OF_INPUTS = ("NameError", "UnboundLocalError", _REFUSED)
_OF_TYPES = frozenset({"TypeError", "AttributeError"})  # a peer need not handle such an input
_NAME = 1  # index in a class `[module, qualified name]`


def compare(code: dict[str, Any], peer: dict[str, Any], names: Names) -> bool | None:
    """Return whether two observations agree; None if that cannot be decided."""
    try:
        if "error" in code and "error" in peer:
            return _compare_errors(_read_classes(code), _read_classes(peer), names)
        if "error" in code or "error" in peer:
            kinds = _read_classes(code if "error" in code else peer)
            unclear = {*_OF_LIMITS, _REFUSED}
            if "error" in peer:
                unclear |= {"RecursionError", *(_OF_TYPES - names.words)}
            return None if kinds[0] in unclear else False
        if "value" not in code or "value" not in peer:
            return None
        return _compare_values(code["value"], peer["value"], names)
    except (LookupError, TypeError, ValueError, ArithmeticError, RecursionError):
        return None


def is_refused(answer: dict[str, Any]) -> bool:
    """Return whether the precondition excluded a call, or a function passed to it failed."""
    return "error" in answer and _read_classes(answer)[:1] == [_REFUSED]


def read_pairs(answer: dict[str, Any]) -> dict[str, Any]:
    """Return a dict's items in their order as a list; other answers as they are."""
    match answer:
        case {"value": ["dict", *pairs]}:
            return {"value": ["list", *pairs]}
    return answer


def is_strictly_equal(expected: Any, got: Any) -> bool:
    """Return whether values and built-in types are equal at every level; floats to nine digits."""
    one, other = get_built_in(expected), get_built_in(got)
    return bool(compare({"value": one}, {"value": other}, Names()))


def _read_classes(observation: dict[str, Any]) -> list[str]:
    """Return the names of an exception's class and its bases."""
    return [str(base[_NAME]) for base in observation["error"][1]]


def _compare_errors(code: list[str], peer: list[str], names: Names) -> bool | None:
    """Compare by class: a subclass agrees, and others differ only if the text names one of them.

    It is chance whether an unusual argument raises `TypeError` or `AttributeError` by itself.
    """
    if {code[0], peer[0]} & {*_OF_LIMITS, *_OF_INPUTS}:
        return None
    if peer[0] in code:
        return True
    if peer[0] in _OF_TYPES - names.words:
        return None
    return False if names.words & {code[0], peer[0]} else None


def _all(results: Iterable[bool | None]) -> bool | None:
    """Return False if any result is False, else None if any is None, else True."""
    is_known = True
    for item in results:
        if item is False:
            return False
        is_known = is_known and item is not None
    return True if is_known else None


def _compare_values(code: Any, peer: Any, names: Names) -> bool | None:
    if names.constants and (repr(code), repr(peer)) in names.constants:
        return True
    if not (isinstance(code, list) and isinstance(peer, list)):
        if _is_unknown(code) or _is_unknown(peer):
            return None
        return _compare_plain(code, peer, names)
    if _is_unknown(code) or _is_unknown(peer):
        return None
    tag = code[0]
    if tag != peer[0]:
        return False
    if tag == "float":
        return _compare_floats(float.fromhex(code[1]), float.fromhex(peer[1]))
    if tag == "Decimal":
        return code[1] == peer[1] or Decimal(code[1]) == Decimal(peer[1])
    if tag in ("subclass", "enum"):  # bases, equality, and the content
        is_same_class = _get_class(code) == _get_class(peer)
        return is_same_class and _compare_items(code[3:5], peer[3:5], names)
    if tag in ("class", "exception"):
        return _get_class(code) == _get_class(peer)
    if tag == "object":
        return _compare_objects(code, peer, names)
    if tag in _UNORDERED:
        return _compare_items(sorted(code[1:], key=_to_text), sorted(peer[1:], key=_to_text), names)
    return _compare_items(code[1:], peer[1:], names)


def _compare_plain(code: Any, peer: Any, names: Names) -> bool | None:
    """Compare plain values; the result is None if an equal value may be an open constant."""
    is_equal = type(code) is type(peer) and bool(code == peer)
    is_other = any(repr(code) == one for one, _ in names.constants)
    return None if is_equal and is_other else is_equal


def _is_unknown(value: Any) -> bool:
    return isinstance(value, list) and value[:1] == ["unknown"]


def _get_class(value: list[Any]) -> str:
    return str(value[1][0][_NAME])


def _to_text(value: Any) -> str:
    """Return a text to sort by, in which the last digits of numbers do not count."""
    return json.dumps(_round(value))


def _round(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    if value[:1] == ["float"]:
        return f"{float.fromhex(value[1]) + 0.0:.8e}"
    return [_round(item) for item in value]


def _compare_floats(code: float, peer: float) -> bool:
    if math.isnan(code) or math.isnan(peer):
        return math.isnan(code) and math.isnan(peer)
    return math.isclose(code, peer, rel_tol=_RELATIVE_TOLERANCE, abs_tol=_ABSOLUTE_TOLERANCE)


def _compare_items(code: Sequence[Any], peer: Sequence[Any], names: Names) -> bool | None:
    if len(code) != len(peer):
        return False
    return _all(_compare_values(one, other, names) for one, other in zip(code, peer, strict=True))


def _compare_objects(code: list[Any], peer: list[Any], names: Names) -> bool | None:
    """Compare the fields of objects that the interface shows; others are implementation details.

    If it shows none, objects agree if they have the same public attributes with equal values.
    """
    if _get_class(code) != _get_class(peer):
        return None
    shown = [key for key in code[3] if key in peer[3] and key in names.fields]
    if not shown and code[3].keys() != peer[3].keys():
        return None
    agrees = _all(_compare_values(code[3][key], peer[3][key], names) for key in shown or code[3])
    return agrees if shown else (bool(code[3]) and agrees) or None


def name_kind(observation: dict[str, Any]) -> str:
    """Return the kind of an answer: its exception, its type, or one of a few values."""
    if "error" in observation:
        return f"raises {_read_classes(observation)[0]}"
    value = observation.get("value")
    if isinstance(value, list):
        return f"{value[0]}{' (empty)' if len(value) == 1 else ''}"
    if value is None or isinstance(value, bool) or value in (0, ""):
        return repr(value)
    return type(value).__name__
