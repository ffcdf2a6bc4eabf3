"""Evaluation of literal expressions on the host, within bounds of size."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

_MAX_SIZE, _MAX_EXPONENT = 10_000, 400
_MAKERS: Mapping[str, Callable[..., Any]] = {
    item.__name__: item for item in (set, frozenset, dict, list, tuple, float, bytes, range)
}
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_IMMUTABLE = (type(None), bool, int, float, complex, str, bytes)
Lookup = Callable[[str], ast.expr | None]


def read_value(node: ast.expr, lookup: Lookup = lambda name: None) -> tuple[Any, ...]:
    """Return a tuple with the value of an expression; () if it is no literal.

    `lookup` returns the expression that a name stands for, or None if that is not known.
    """
    try:
        return (_evaluate(node, lookup),)
    except (ValueError, TypeError, ArithmeticError, LookupError, RecursionError, MemoryError):
        return ()


def is_immutable(value: object) -> bool:
    if isinstance(value, (tuple, frozenset)):
        return all(map(is_immutable, value))
    return isinstance(value, _IMMUTABLE)


def _evaluate(node: ast.expr, lookup: Lookup) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            if (known := lookup(name)) is None:
                raise ValueError(name)
            return _evaluate(known, lookup)
        case ast.List() | ast.Tuple() | ast.Set():
            kind = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
            return kind(_evaluate(item, lookup) for item in node.elts)
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            return {_evaluate(_require_known(k), lookup): _evaluate(v, lookup) for k, v in pairs}
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, lookup)
        case ast.BinOp():
            return _compute(node, lookup)
        case ast.Call(func=ast.Name(id=name), keywords=[]) if lookup(name) is None:
            return _make(name, [_evaluate(item, lookup) for item in node.args])
        case ast.Subscript(value=value, slice=key):
            return _evaluate(value, lookup)[_evaluate(key, lookup)]
    raise ValueError(type(node).__name__)


def _require_known(node: ast.expr | None) -> ast.expr:
    if node is None:
        raise ValueError("**")
    return node


def _make(name: str, arguments: list[Any]) -> Any:
    if name in ("list", "tuple", "bytes", "set", "frozenset") and arguments:
        size = arguments[0] if isinstance(arguments[0], int) else len(arguments[0])
        if size > _MAX_SIZE:
            raise ValueError("too large")
    return _MAKERS[name](*arguments)


def _compute(node: ast.BinOp, lookup: Lookup) -> Any:
    left, right = _evaluate(node.left, lookup), _evaluate(node.right, lookup)
    for one, other in ((left, right), (right, left)):
        is_repeated = isinstance(node.op, ast.Mult) and hasattr(one, "__len__")
        if is_repeated and len(one) * int(other) > _MAX_SIZE:
            raise ValueError("too large")
    if isinstance(node.op, ast.Pow) and not (
        isinstance(right, (int, float)) and abs(right) <= _MAX_EXPONENT
    ):
        raise ValueError("too large")
    if isinstance(node.op, ast.Mod) and isinstance(left, (str, bytes)):
        raise ValueError("formatted")
    return _OPERATORS[type(node.op)](left, right)
