"""Bounds that test conditions set: numbers, tolerances, patterns, exceptions."""

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from greenloop.project.weakening.conditions.strength import EXPECTING, collect_names

_DIGITS = frozenset({"places", "decimal", "decimals"})  # digits that have to agree
_ANYTHING = re.compile(r"[.*+?^$()]*")  # a pattern that matches nearly everything
_TOLERANCES = frozenset({"rel", "abs", "delta", "rel_tol", "abs_tol", "rtol", "atol", "tolerance"})


@dataclass(frozen=True)
class Bound:
    """A bound on the value `of`: an upper (`is_upper`) or lower limit, a text, or an exception."""

    of: str
    text: str
    is_upper: bool
    is_inclusive: bool = True

    def is_wider_than(self, other: "Bound") -> bool:
        """Return whether this bound certainly accepts more than `other`, on the same value."""
        if self.of in EXPECTING:
            return self._catches_more_than(other)
        mine, theirs = _read_number(self.text), _read_number(other.text)
        if mine is None or theirs is None:
            return self._is_grown_from(other) or self._is_found_in(other)
        if mine == theirs:
            return self.is_inclusive and not other.is_inclusive
        return (mine > theirs) == self.is_upper

    def _catches_more_than(self, other: "Bound") -> bool:
        """Return whether this bound names more exceptions, or built-in bases of the other's."""
        mine, theirs = (collect_names(ast.parse(item.text)) for item in (self, other))
        bases = {base.__name__ for name in theirs for base in _list_bases(name)}
        return mine > theirs or bool((mine - theirs) & bases)

    def _is_found_in(self, other: "Bound") -> bool:
        """Return whether both bounds are texts, and this text is a part of the other one."""
        mine, theirs = _read_text(self.text), _read_text(other.text)
        is_found = mine in theirs or bool(_ANYTHING.fullmatch(mine))
        return bool(theirs) and mine != theirs and is_found

    def _is_grown_from(self, other: "Bound") -> bool:
        """Return whether this bound is the other one, loosened by arithmetic such as `x + 1`."""
        growing = (
            (ast.Add, ast.Mult, ast.Pow) if self.is_upper else (ast.Sub, ast.Div, ast.FloorDiv)
        )
        match ast.parse(self.text, mode="eval").body:
            case ast.BinOp(left=left, op=operation, right=right) if isinstance(operation, growing):
                return other.text in (ast.unparse(left), ast.unparse(right))
        return False


def list_bounds(test: ast.AST) -> tuple[Bound, ...]:
    """Return the bounds that a condition or a call sets."""
    return tuple(item for node in ast.walk(test) for item in _read_bounds(node))


def is_widened(old: Sequence[Bound], new: Sequence[Bound]) -> bool:
    """Return whether a new bound accepts more than the old one on the same value."""
    known = {(item.of, item.is_upper): item for item in old}
    pairs = ((item, known.get((item.of, item.is_upper))) for item in new)
    return any(before is not None and item.is_wider_than(before) for item, before in pairs)


def _read_bounds(node: ast.AST) -> Iterator[Bound]:
    match node:
        case ast.keyword(arg=str(name), value=value) if name in _TOLERANCES | _DIGITS:
            yield Bound(name, ast.unparse(value), name in _TOLERANCES)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[error, *_]) if (
            name in EXPECTING
        ):
            yield Bound(name, ast.unparse(error), True)
        case ast.Call(func=ast.Attribute(ast.Name("re")), args=[pattern, _, *_]):
            yield Bound("re", ast.unparse(pattern), True)
        case ast.keyword(arg="match" as name, value=value):
            yield Bound(name, ast.unparse(value), True)
        case ast.Compare(left=text, ops=[ast.In()], comparators=[value]):
            yield Bound(f"in {ast.unparse(value)}", ast.unparse(text), True)
        case ast.Compare(left=first, ops=operators, comparators=others):
            for left, operator, right in zip([first, *others], operators, others, strict=False):
                if isinstance(operator, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
                    is_turned = _read_number(ast.unparse(left)) is not None
                    value, bound = (right, left) if is_turned else (left, right)
                    is_upper = isinstance(operator, (ast.Lt, ast.LtE)) != is_turned
                    is_inclusive = isinstance(operator, (ast.LtE, ast.GtE))
                    yield Bound(ast.unparse(value), ast.unparse(bound), is_upper, is_inclusive)


def read_patterns(test: ast.expr) -> frozenset[str]:
    """Return the `match` texts of a call as literals, without anchors and backslashes."""
    named = test.keywords if isinstance(test, ast.Call) else ()
    texts = (_read_text(ast.unparse(item.value)) for item in named if item.arg == "match")
    return frozenset(repr(text.removeprefix("^").removesuffix("$")) for text in texts)


def _list_bases(name: str) -> tuple[type, ...]:
    """Return a built-in exception and its bases, or () for any other name."""
    found = getattr(builtins, name, None)
    return found.__mro__[:-1] if isinstance(found, type) else ()


def _read_text(text: str) -> str:
    """Return a literal text without the backslashes of a pattern, '' for anything else."""
    with suppress(ValueError, TypeError, SyntaxError):
        found = ast.literal_eval(text)
        return re.sub(r"\\(.)", r"\1", found) if isinstance(found, str) else ""
    return ""


def _read_number(text: str) -> float | None:
    with suppress(ValueError, TypeError, SyntaxError, OverflowError):
        return float(ast.literal_eval(text))
    return None
