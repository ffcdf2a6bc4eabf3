"""Strength of test conditions and asserting calls: how much they say about the tested value."""

import ast
import re
from enum import IntEnum
from typing import TypeGuard

_CHECK_CALL = re.compile(r"(^|\.|_)(assert|check|verify|expect)\w*$|^(raises|warns|approx)$", re.I)
EXPECTING = frozenset({"raises", "warns", "assertRaises", "assertRaisesRegex", "deprecated_call"})
BROAD = frozenset({"Exception", "BaseException"})
_WHOLE_CALLS = re.compile(r"assert(\w*(Equal|equal|close)\w*|Is|Raises\w*|_(called|awaited)_with)$")
# Other methods of unittest, of its mocks and of numpy; a project's own helper may check everything.
_PARTIAL_CALLS = re.compile(r"assert([A-Z]|_$|_(any|has|not|called|awaited|array_less))")
# Keywords of assertions without influence on what passes; others are tolerances or omissions.
_NEUTRAL = frozenset({"msg", "err_msg", "verbose", "strict", "obj", "first", "second"})
# Functions that keep only a part of the information in their argument.
REDUCING = frozenset(
    {"set", "frozenset", "sorted", "bool", "round", "int", "abs", "lower", "upper", "casefold"}
    | {"startswith", "endswith", "keys", "values", "split", "count"}
)
_PEELED = REDUCING | {"isinstance", "issubclass", "hasattr", "len", "str", "repr", "list", "type"}
# Functions that change only the form of their argument.
FORMING = frozenset({"join", "list", "tuple", "strip", "lstrip", "rstrip", "splitlines"})


class Strength(IntEnum):
    """How much a check says about a value, from nothing to everything."""

    NOTHING = 0  # it always holds
    TRUTH = 1  # a value is true, or not None
    KIND = 2  # a type, a length, a bound, an exception of any kind
    PART = 3  # a part of a value, one of several values, a certain exception
    WHOLE = 4  # a whole value, an exception with its text


def is_check_call(node: ast.expr) -> TypeGuard[ast.Call]:
    """Return whether an expression is a call whose name says that it checks something."""
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    return name.rpartition(".")[2] in EXPECTING or bool(_CHECK_CALL.search(name))


def turn(test: ast.expr) -> ast.expr:
    """Return an equation with the literal on the right, or else in a fixed order."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq() as same], comparators=[right]):
            is_either = not (_is_literal(left) or _is_literal(right))
            is_unordered = is_either and ast.unparse(left) < ast.unparse(right)
            if (_is_literal(left) and not _is_literal(right)) or is_unordered:
                return ast.Compare(right, [same], [left])
    return test


def find_subject(test: ast.expr, is_call: bool = False) -> str:
    """Return the source of the tested value: of a comparison, the side that is no literal.

    Of an asserting call (`is_call`) it is the argument before the expected value.
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
        case ast.Call(args=[first, *rest]) if is_check_call(test):
            is_turned = bool(rest) and _is_literal(first) and not _is_literal(rest[0])
            return ast.unparse(rest[0] if is_turned else first)
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
    """Return how much a condition says about the tested value."""
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
    """Return whether a side of a comparison keeps only a part of a value, or has a tolerance."""
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
    """Return whether both sides apply the same function, attribute or subscript to a value."""
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
        return Strength.NOTHING  # a value is compared with itself
    if name.startswith("assert_") and "ANY" in collect_names(node):
        return Strength.PART
    is_mock = name.endswith("_with")  # the keywords are expected arguments, not tolerances
    is_loose = not is_mock and any(item.arg not in _NEUTRAL for item in node.keywords)
    if _WHOLE_CALLS.match(name):
        return Strength.PART if is_loose else Strength.WHOLE
    return Strength.PART if _PARTIAL_CALLS.match(name) else Strength.WHOLE


def _is_call_of(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in names


def _is_literal(node: ast.expr) -> bool:
    """Return whether an expression is a literal, or literal lines that are joined."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Constant(), attr="join"), args=[lines]):
            return _is_literal(lines)
    inner = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.Load)
    return all(isinstance(item, inner) for item in ast.walk(node))


def collect_names(node: ast.AST) -> set[str]:
    """Return the names and attributes below a node."""
    nodes = (i for i in ast.walk(node) if isinstance(i, (ast.Name, ast.Attribute)))
    return {item.id if isinstance(item, ast.Name) else item.attr for item in nodes}
