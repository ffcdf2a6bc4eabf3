"""Changes of literals: another value of the same type, near or far."""

from __future__ import annotations

import ast
import math

_FAR_NUMBER = 7_919_003
_FAR_TEXT = "\u2042 7919"
_EMPTY_CALL_REPLACEMENTS = {
    "set()": "{0}",
    "list()": "[0]",
    "dict()": "{0: 0}",
    "tuple()": "(0,)",
    "frozenset()": "{0}",
}
_CONTAINERS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_NO_LITERAL: tuple[object, ...] = ()


def change_literal(node: ast.expr) -> str | None:
    """Return the source of a slightly different literal; None where the node is no literal.

    Containers with a part that is no literal become longer by one.
    """
    source = ast.unparse(node)
    if source in _EMPTY_CALL_REPLACEMENTS:
        return _EMPTY_CALL_REPLACEMENTS[source]
    value = parse_literal(node)
    if value is _NO_LITERAL:
        return _extend_container(node)
    changed = (
        _change_scalar(value[0]) if not isinstance(node, _CONTAINERS) else _change_container(node)
    )
    return (
        changed
        if changed is not None and _is_different(value[0], changed)
        else _extend_container(node)
    )


def parse_literal(node: ast.expr) -> tuple[object, ...]:
    """Return the literal's value in a tuple; () where the node is none."""
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _NO_LITERAL


def _is_different(before: object, source: str) -> bool:
    try:
        return bool(ast.literal_eval(source) != before)
    except (ValueError, TypeError, SyntaxError):
        return False


def _change_scalar(value: object) -> str | None:
    if value is None:
        return "0"
    if isinstance(value, bool):
        return repr(not value)
    if isinstance(value, int):
        return repr(value + 1)
    if isinstance(value, float):
        return repr(value * 2 + 1) if math.isfinite(value * 2) else "0.0"
    if isinstance(value, complex):
        return repr(value * 2 + 1)
    if isinstance(value, str):
        return repr(value + "x")
    return repr(value + b"x") if isinstance(value, bytes) else None


def _change_container(node: ast.expr) -> str | None:
    """Return the container on one line with its last literal changed."""
    changed = ast.parse(ast.unparse(node), mode="eval").body
    if isinstance(changed, ast.Dict):
        parts: list[ast.expr] = changed.values
    elif isinstance(changed, (ast.List, ast.Tuple, ast.Set)):
        parts = changed.elts
    else:
        return None
    other = change_literal(parts[-1]) if parts else None
    if other is None:
        return None
    parts[-1] = ast.parse(other, mode="eval").body
    return ast.unparse(changed)


def _extend_container(node: ast.expr) -> str | None:
    """Return the container with one more part, which is never equal to the original."""
    if isinstance(node, ast.Dict):
        return ast.unparse(
            ast.Dict([*node.keys, ast.Constant(_FAR_TEXT)], [*node.values, _build_zero()])
        )
    if isinstance(node, ast.Set):
        return ast.unparse(ast.Set([*node.elts, ast.Constant(_FAR_TEXT)]))
    if isinstance(node, ast.List):
        return ast.unparse(ast.List([*node.elts, _build_zero()], ast.Load()))
    if isinstance(node, ast.Tuple):
        return ast.unparse(ast.Tuple([*node.elts, _build_zero()], ast.Load()))
    return None


def _build_zero() -> ast.Constant:
    return ast.Constant(0)


def change_literal_far(node: ast.expr) -> str | None:
    """Return a literal of the same type that is far away, for members, tolerances and patterns."""
    value = parse_literal(node)
    if value is _NO_LITERAL:
        return None
    return _change_value_far(value[0])


def _change_value_far(value: object) -> str | None:
    if isinstance(value, bool) or value is None:
        return repr(_FAR_TEXT)
    if isinstance(value, (int, float)):
        return repr(-(abs(value) + 1) * _FAR_NUMBER) if math.isfinite(value) else "0.0"
    if isinstance(value, str):
        return repr(value + _FAR_TEXT) if value else None
    if isinstance(value, bytes):
        return repr(value + _FAR_TEXT.encode()) if value else None
    if isinstance(value, (list, tuple)):
        return _change_sequence_far(value)
    if isinstance(value, dict) and value:
        parts = {repr(key): _change_value_far(item) for key, item in value.items()}
        inner = ", ".join(f"{key}: {part}" for key, part in parts.items())
        return None if None in parts.values() else f"{{{inner}}}"
    return None


def _change_sequence_far(value: list[object] | tuple[object, ...]) -> str | None:
    parts = [_change_value_far(item) for item in value]
    if not parts or None in parts:
        return None
    inner = ", ".join(str(part) for part in parts)
    return f"[{inner}]" if isinstance(value, list) else f"({inner},)"


def change_members_far(node: ast.expr) -> str | None:
    """Return a container without any of the original members; None for other nodes."""
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)) or not node.elts:
        return None
    value = parse_literal(node)
    parts = [change_literal_far(item) for item in node.elts]
    if value is _NO_LITERAL or None in parts:
        return None
    inner = ", ".join(str(part) for part in parts)
    try:
        overlap = set(ast.literal_eval(f"[{inner}]")) & set(value[0])  # type: ignore[call-overload]
    except TypeError:
        return None
    return None if overlap else f"({inner},)"
