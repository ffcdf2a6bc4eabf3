"""How much a condition or an asserting call tells of what it looks at, and the bounds that it sets."""

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeGuard

_CHECK_CALL = re.compile(r"(^|\.|_)(assert|check|verify|expect)\w*$|^(raises|warns|approx)$", re.I)
EXPECTING = frozenset({"raises", "warns", "assertRaises", "assertRaisesRegex", "deprecated_call"})
BROAD = frozenset({"Exception", "BaseException"})
_WHOLE_CALLS = re.compile(r"assert(\w*(Equal|equal|close)\w*|Is|Raises\w*|_(called|awaited)_with)$")
# Arguments of assertions that say nothing of what passes; others are tolerances, or leave something out.
_NEUTRAL = frozenset({"msg", "err_msg", "verbose", "strict", "obj", "first", "second"})
# Functions that keep only a part of their argument.
REDUCING = frozenset(
    {"set", "frozenset", "sorted", "bool", "round", "int", "abs", "lower", "upper", "casefold"}
    | {"startswith", "endswith", "keys", "values", "split", "count"}
)
_PEELED = REDUCING | {"isinstance", "issubclass", "hasattr", "len", "str", "repr", "list", "type"}
# Functions that change the form of their argument.
FORMING = frozenset({"join", "list", "tuple", "strip", "lstrip", "rstrip", "splitlines"})
_TOLERANCES = frozenset({"rel", "abs", "delta", "rel_tol", "abs_tol", "rtol", "atol", "tolerance"})
_ANYTHING = re.compile(r"[.*+?^$()]*")  # as a pattern
_DIGITS = frozenset({"places", "decimal", "decimals"})  # that have to agree


class Strength(IntEnum):
    """How much a check says of a value, from nothing to all."""

    NOTHING = 0  # it always holds
    TRUTH = 1  # a value is true, or not None
    KIND = 2  # a type, a length, a bound, an exception of any kind
    PART = 3  # a part of a value, one of several values, a certain exception
    WHOLE = 4  # a whole value, an exception with its text


def is_check_call(node: ast.expr) -> TypeGuard[ast.Call]:
    """Whether an expression is a call that checks something by its name."""
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    return name.rpartition(".")[2] in EXPECTING or bool(_CHECK_CALL.search(name))


def turn(test: ast.expr) -> ast.expr:
    """Return a comparison with the literal on the right."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq() as same], comparators=[right]):
            if _is_literal(left) and not _is_literal(right):
                return ast.Compare(right, [same], [left])
    return test


def read_truth(test: ast.expr) -> ast.expr:
    """Return a comparison with True, False or a length of nothing as linters write it."""
    match test:
        case ast.Compare(left, [ast.Eq() | ast.Is()], [ast.Constant(value=bool(wanted))]):
            return left if wanted else ast.UnaryOp(ast.Not(), left)
        case ast.Compare(ast.Call(ast.Name("len"), [value]), [operator], [ast.Constant(0)]):
            if isinstance(operator, (ast.Gt, ast.NotEq)):
                return value
            return ast.UnaryOp(ast.Not(), value) if isinstance(operator, ast.Eq) else test
    return test


def find_subject(test: ast.expr, is_call: bool = False) -> str:
    """Return what a condition looks at: the side of a comparison that is no literal.

    Of a call that checks (`is_call`) it is what comes before what is expected.
    """
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return find_subject(operand)
        case ast.BoolOp(values=[*_, last]):
            return find_subject(last)
        case ast.Compare(left=left, comparators=[right]):
            return find_subject(right if _is_literal(left) else left)
        case ast.Call(args=[first]) if is_call or is_check_call(test):
            return ast.unparse(first)
        case ast.Call(args=[first, *_]) if is_check_call(test):
            return ast.unparse(first)
        case ast.Call(func=ast.Attribute(ast.Name("re")), args=[_, text, *_]):
            return find_subject(text)
        case ast.Call(func=function, args=[*first, _]) if is_call and first:
            return f"{ast.unparse(function)}({', '.join(map(ast.unparse, first))})"
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _PEELED:
            return find_subject(first)
        case ast.Call(func=ast.Attribute(value=ast.Constant(), attr="join"), args=[value]):
            return find_subject(value)
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in REDUCING | FORMING:
            return find_subject(value)
    return ast.unparse(test)


def grade(test: ast.expr) -> Strength:
    """Return how much a condition says of what it looks at."""
    match test:
        case ast.Constant() | ast.Tuple() | ast.List(elts=[_, *_]) | ast.JoinedStr():
            return Strength.NOTHING
        case ast.BoolOp(op=ast.Or(), values=values):
            return min(Strength.PART, *map(grade, values))
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return _grade_comparison(left, operator, right)
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass" | "hasattr" | "callable")):
            return Strength.KIND
        case ast.Call(
            func=ast.Name(id="any"), args=[ast.GeneratorExp(elt=each) | ast.ListComp(elt=each)]
        ):
            return Strength.PART if grade(each) >= Strength.PART else Strength.TRUTH
        case (
            ast.Call(func=ast.Name(id="all" | "any"))
            | ast.Call(func=ast.Attribute(attr="startswith" | "endswith"))
            | ast.Call(func=ast.Attribute(ast.Name("re")))
        ):
            return Strength.PART
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return min(grade(operand), Strength.KIND)
    return Strength.TRUTH


def _grade_comparison(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Strength:
    texts = [ast.unparse(side) for side in (left, right)]
    if texts[0] == texts[1] or any(text.rpartition(".")[2] == "ANY" for text in texts):
        return Strength.NOTHING
    is_length = any(_is_call_of(side, "len", "type") for side in (left, right))
    is_none = any(isinstance(side, ast.Constant) and side.value is None for side in (left, right))
    match operator:
        case ast.Eq() | ast.Is():
            if is_length or _is_call_of(left, "bool") or _is_call_of(right, "bool"):
                return Strength.KIND
            is_part = any(map(_is_reduced, (left, right))) or _is_same_part(left, right)
            is_part = is_part or "ANY" in collect_names(right) | collect_names(left)
            return Strength.PART if is_part else Strength.WHOLE
        case ast.NotEq() | ast.IsNot():
            return Strength.TRUTH if is_none else Strength.KIND
        case ast.In():
            return Strength.PART
    return Strength.KIND


def _is_reduced(node: ast.expr) -> bool:
    """Return whether a side of a comparison keeps only a part of a value, or names a tolerance."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[inner]) if (
            name in FORMING
        ):
            return _is_reduced(inner)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            is_wide = name in ("approx", "isclose") and bool(node.keywords or node.args[1:])
            return name in REDUCING or is_wide
        case ast.Subscript(slice=ast.Slice()) | ast.BinOp(op=ast.Mod() | ast.FloorDiv()):
            return True
    return False


def _is_same_part(left: ast.expr, right: ast.expr) -> bool:
    """Return whether two values are compared after the same function, or by the same attribute or item."""
    match left, right:
        case ast.Call(func=ast.Name(id=name)), ast.Call(func=ast.Name(id=other)):
            return name == other and not name[:1].isupper()
        case ast.Attribute(attr=name), ast.Attribute(attr=other):
            return name == other
        case ast.Subscript(slice=item), ast.Subscript(slice=other):
            return ast.unparse(item) == ast.unparse(other)
    return False


def grade_call(node: ast.Call) -> Strength:
    """Return how much an asserting call says: `pytest.raises`, a method of unittest, a helper."""
    name = ast.unparse(node.func).rpartition(".")[2]
    if name in EXPECTING:
        is_told = any(item.arg == "match" for item in node.keywords) or bool(node.args[1:])
        if is_told or name.endswith("Regex"):
            return Strength.WHOLE
        is_broad = bool(node.args) and not collect_names(node.args[0]).isdisjoint(BROAD)
        return Strength.KIND if is_broad else Strength.PART
    if len({*map(ast.unparse, node.args)}) < len(node.args[:2]):
        return Strength.NOTHING  # both are the same
    if name.startswith("assert_") and "ANY" in collect_names(node):
        return Strength.PART
    is_mock = name.endswith("_with")  # its keywords are what is expected
    is_loose = not is_mock and any(item.arg not in _NEUTRAL for item in node.keywords)
    if _WHOLE_CALLS.match(name):
        return Strength.PART if is_loose else Strength.WHOLE
    return Strength.PART if name.startswith("assert") else Strength.WHOLE


def _is_call_of(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in names


def _is_literal(node: ast.expr) -> bool:
    inner = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.Load)
    return all(isinstance(item, inner) for item in ast.walk(node))


def collect_names(node: ast.AST) -> set[str]:
    """Return the names and attributes below a node."""
    nodes = (i for i in ast.walk(node) if isinstance(i, (ast.Name, ast.Attribute)))
    return {item.id if isinstance(item, ast.Name) else item.attr for item in nodes}


@dataclass(frozen=True)
class Bound:
    """What a check lets through: values up to (`is_upper`), or from, what `text` is, or with that text."""

    of: str
    text: str
    is_upper: bool
    is_inclusive: bool = True

    def is_wider_than(self, other: "Bound") -> bool:
        """Return whether it certainly lets more through than another one of the same value."""
        if self.of in EXPECTING:
            return self._catches_more_than(other)
        mine, theirs = _read_number(self.text), _read_number(other.text)
        if mine is None or theirs is None:
            return self._is_grown_from(other) or self._is_found_in(other)
        if mine == theirs:
            return self.is_inclusive and not other.is_inclusive
        return (mine > theirs) == self.is_upper

    def _catches_more_than(self, other: "Bound") -> bool:
        """Return whether it names other errors beside the same ones, or built-in bases of these."""
        mine, theirs = (
            {*ast.unparse(ast.parse(i.text)).strip("()").split(", ")} for i in (self, other)
        )
        bases = {base.__name__ for name in theirs for base in _list_bases(name)}
        return mine > theirs or bool((mine - theirs) & bases)

    def _is_found_in(self, other: "Bound") -> bool:
        """Return whether both are texts that are looked for, and this one is less of the other one."""
        mine, theirs = _read_text(self.text), _read_text(other.text)
        is_found = mine in theirs or bool(_ANYTHING.fullmatch(mine))
        return bool(theirs) and mine != theirs and is_found

    def _is_grown_from(self, other: "Bound") -> bool:
        """Return whether the other one is a part of its sum, product or power."""
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
    """Return whether a bound lets more through than the one that stood for the same value."""
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
    """Return the texts that a call looks for by `match`, without the signs of a pattern, as constants."""
    named = test.keywords if isinstance(test, ast.Call) else ()
    texts = (_read_text(ast.unparse(item.value)) for item in named if item.arg == "match")
    return frozenset(repr(text.removeprefix("^").removesuffix("$")) for text in texts)


def _list_bases(name: str) -> tuple[type, ...]:
    """Return the bases of a built-in error, itself first; () of any other."""
    found = getattr(builtins, name, None)
    return found.__mro__[:-1] if isinstance(found, type) else ()


def _read_text(text: str) -> str:
    """Return a text that is written out, without the backslashes of a pattern; '' for anything else."""
    with suppress(ValueError, TypeError, SyntaxError):
        found = ast.literal_eval(text)
        return re.sub(r"\\(.)", r"\1", found) if isinstance(found, str) else ""
    return ""


def _read_number(text: str) -> float | None:
    with suppress(ValueError, TypeError, SyntaxError, OverflowError):
        return float(ast.literal_eval(text))
    return None
