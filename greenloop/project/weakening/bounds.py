"""Bounds that a check sets: sides of inequalities, and tolerances."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

_TOLERANCES = frozenset({"rel", "abs", "delta", "rel_tol", "abs_tol", "rtol", "atol"})
_DIGITS = frozenset({"places", "decimal", "decimals"})  # that have to agree


@dataclass(frozen=True)
class Bound:
    """What a check lets through: values up to (`is_upper`), or from, what `text` is."""

    of: str
    text: str
    is_upper: bool
    is_inclusive: bool = True

    def is_wider_than(self, other: Bound) -> bool:
        """Return whether it certainly lets more through than another one of the same value."""
        mine, theirs = _read_number(self.text), _read_number(other.text)
        if mine is None or theirs is None:
            return self._is_grown_from(other)
        if mine == theirs:
            return self.is_inclusive and not other.is_inclusive
        return (mine > theirs) == self.is_upper

    def _is_grown_from(self, other: Bound) -> bool:
        """Return whether the other one is a part of its sum, product or power."""
        growing = (
            (ast.Add, ast.Mult, ast.Pow) if self.is_upper else (ast.Sub, ast.Div, ast.FloorDiv)
        )
        match ast.parse(self.text, mode="eval").body:
            case ast.BinOp(left=left, op=operation, right=right) if isinstance(operation, growing):
                return other.text in (ast.unparse(left), ast.unparse(right))
        return False


def list_bounds(test: ast.expr) -> tuple[Bound, ...]:
    """Return the bounds that a condition or a call sets."""
    return tuple(item for node in ast.walk(test) for item in _read_bounds(node))


def is_widened(old: Sequence[Bound], new: Sequence[Bound]) -> bool:
    """Return whether a bound lets more through than the one that stood for the same value."""
    known = {(item.of, item.is_upper): item for item in old}
    pairs = ((item, known.get((item.of, item.is_upper))) for item in new)
    return any(before is not None and item.is_wider_than(before) for item, before in pairs)


def _read_bounds(node: ast.AST) -> Iterator[Bound]:
    match node:
        case ast.keyword(arg=str(name), value=value) if name in _TOLERANCES | _DIGITS:
            yield Bound(name, ast.unparse(value), name in _TOLERANCES)
        case ast.Compare(left=first, ops=operators, comparators=others):
            for left, operator, right in zip([first, *others], operators, others, strict=False):
                if isinstance(operator, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
                    is_turned = _read_number(ast.unparse(left)) is not None
                    value, bound = (right, left) if is_turned else (left, right)
                    is_upper = isinstance(operator, (ast.Lt, ast.LtE)) != is_turned
                    is_inclusive = isinstance(operator, (ast.LtE, ast.GtE))
                    yield Bound(ast.unparse(value), ast.unparse(bound), is_upper, is_inclusive)


def _read_number(text: str) -> float | None:
    with suppress(ValueError, TypeError, SyntaxError, OverflowError):
        return float(ast.literal_eval(text))
    return None
