"""Features of an input that tell differences with different causes apart."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from greenloop.syntax.nodes import fold_signs

_MAX_ITEMS = 200


def describe_arguments(call: ast.AST) -> tuple[str, ...]:
    """Return the kind of each argument of a call, which does not depend on how large it is.

    Numbers differ by sign, texts by the classes of their characters, containers by size (0, 1 or
    more), order, repetition and the kinds of their items.
    """
    if not isinstance(call, ast.Call):
        return ()
    named = sorted((str(item.arg), item.value) for item in call.keywords)
    given = [*(("", item) for item in call.args), *named]
    return tuple(f"{name}={_describe(fold_signs(value))}" for name, value in given)


def _describe(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=bool() | None as value):
            return str(value)
        case ast.Constant(value=int() | float() as value):
            return f"{type(value).__name__}{(value > 0) - (value < 0)}"
        case ast.Constant(value=str() as value):
            return "text" + "".join(sorted(set(map(_classify, value[:_MAX_ITEMS]))))
        case ast.List() | ast.Tuple() | ast.Set():
            return _describe_items(type(node).__name__, node.elts[:_MAX_ITEMS])
        case ast.Dict():
            return _describe_items("Dict", node.values[:_MAX_ITEMS])
        case _:
            return type(node).__name__


def _classify(character: str) -> str:
    """Return one letter for a character's class."""
    if character.isascii() and character.isalpha():
        return "u" if character.isupper() else "l"
    return "d" if character.isdecimal() else "s" if character.isspace() else "o"


def _describe_items(kind: str, items: list[ast.expr]) -> str:
    shown = "".join(sorted({_describe(item) for item in items}))
    return f"{kind}({min(len(items), 2)}{''.join(_describe_order(items))}:{shown})"


def _describe_order(items: list[ast.expr]) -> Iterator[str]:
    """Yield signs for ascending, descending and repeated numbers or texts in a container."""
    values = [item.value for item in items if isinstance(item, ast.Constant)]
    for kind in ((int, float), str):
        if len(values) == len(items) and all(isinstance(item, kind) for item in values):
            pairs = list(pairwise(values))
            yield "<" * any(a < b for a, b in pairs)  # type: ignore[operator]
            yield ">" * any(a > b for a, b in pairs)  # type: ignore[operator]
            yield "=" * (len(set(values)) < len(values))
