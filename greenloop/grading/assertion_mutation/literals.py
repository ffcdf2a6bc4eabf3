"""Changes of literals: to a near value, a far value, or the answer of another test."""

import ast
import cmath
import copy
import math
from collections.abc import Mapping

from greenloop.syntax.parse import read_literal

_FAR_NUMBER = 7_919_003
_FAR_TEXT = "\u2042 7919"
_EMPTY_CONTAINERS = {
    **dict.fromkeys(("set()", "frozenset()"), "{0}"),
    **dict.fromkeys(("[]", "list()"), "[0]"),
    **dict.fromkeys(("{}", "dict()"), "{0: 0}"),
    **dict.fromkeys(("()", "tuple()"), "(0,)"),
}
# Members that make a container longer, so that it is never equal to the original.
_ADDED_MEMBERS: dict[type[ast.AST], str] = {
    ast.List: "0",
    ast.Tuple: "0",
    ast.Set: repr(_FAR_TEXT),
    ast.Dict: f"{_FAR_TEXT!r}: 0",
}
_ERRORS = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError)


def change_literal(node: ast.expr) -> str | None:
    """Return the source of a slightly different literal; None if the node is no literal.

    Containers with a part that is no literal get one more member.
    """
    source = ast.unparse(node)
    if source in _EMPTY_CONTAINERS:
        return _EMPTY_CONTAINERS[source]
    if value := read_literal(node):
        changed = _change_scalar(value[0]) or _change_last_member(node)
        if changed is not None and ast.literal_eval(changed) != value[0]:
            return changed
    added = _ADDED_MEMBERS.get(type(node))
    return added and f"{source[:-1].rstrip(',')}, {added}{source[-1]}"


def choose_other_answer(node: ast.expr, answers: Mapping[str, object]) -> str | None:
    """Return the source of an answer that differs from a literal, of the same type if possible."""
    value = read_literal(node)
    others = {text: other for text, other in answers.items() if value and other != value[0]}
    same_type = (text for text, other in others.items() if type(other) is type(value[0]))
    return next(same_type, None) or next(iter(others), None)


def _change_scalar(value: object) -> str | None:
    if value is None:
        return "0"
    if isinstance(value, bool):
        return repr(not value)
    if isinstance(value, int):
        return repr(value + 1)
    if isinstance(value, (float, complex)):
        return repr(value * 2 + 1) if cmath.isfinite(value * 2) else "0.0"
    if isinstance(value, str):
        return repr(value + "x")
    return repr(value + b"x") if isinstance(value, bytes) else None


def _change_last_member(node: ast.expr) -> str | None:
    """Return a container with its last member, or the last value of a dictionary, changed."""
    name = "values" if isinstance(node, ast.Dict) else "elts"
    *members, last = getattr(node, name, None) or [None]
    other = change_literal(last) if last is not None else None
    if other is None:
        return None
    changed = copy.copy(node)
    setattr(changed, name, [*members, ast.parse(other, mode="eval").body])
    return ast.unparse(changed)


def change_literal_far(node: ast.expr) -> str | None:
    """Return a literal far from the original, for members, tolerances and patterns; else None."""
    try:
        return repr(_get_far_value(ast.literal_eval(node)))
    except _ERRORS:
        return None


def _get_far_value(value: object) -> object:
    """Return a value with no part near that of the original. Raises ValueError: there is none."""
    if isinstance(value, bool) or value is None:
        return _FAR_TEXT
    if isinstance(value, (int, float)):
        return -(abs(value) + 1) * _FAR_NUMBER if math.isfinite(value) else 0.0
    if isinstance(value, str) and value:
        return value + _FAR_TEXT
    if isinstance(value, bytes) and value:
        return value + _FAR_TEXT.encode()
    if isinstance(value, (list, tuple)) and value:
        return type(value)(map(_get_far_value, value))
    if isinstance(value, dict) and value:
        return {key: _get_far_value(item) for key, item in value.items()}
    raise ValueError(value)


def change_members_far(node: ast.expr) -> str | None:
    """Return a container without any of the original members; None for other nodes."""
    try:
        members = ast.literal_eval(node)
        far = tuple(map(_get_far_value, members))
        is_disjoint = isinstance(members, (list, tuple, set)) and set(far).isdisjoint(members)
    except _ERRORS:
        return None
    return repr(far) if far and is_disjoint else None
