"""Comparison of two test conditions: narrowed, negated, or the same in another form."""

import ast

from greenloop.project.weakening.conditions.strength import FORMING, REDUCING
from greenloop.syntax.parse import parse_or_empty

_SEARCHING = frozenset({"search", "match", "fullmatch", "findall", "startswith", "endswith"})
_NEGATED = ((" == ", " != "), (" in ", " not in "), (" is ", " is not "))


def is_opposite(text: str, other: str) -> bool:
    """Return whether two assertions differ only in one negated operator."""
    pairs = [(text, other), (other, text)]
    return any(a.replace(is_, is_not, 1) == b for a, b in pairs for is_, is_not in _NEGATED)


def is_narrowed(old: ast.expr, new: ast.expr) -> bool:
    """Return whether a new condition expects only a part of the old value, or compares parts."""
    match old, new:
        case (
            ast.Compare(left=a, ops=[ast.Eq()], comparators=[b]),
            ast.Compare(left=c, ops=[ast.Eq()], comparators=[d]),
        ):
            return _takes_part(a, c) and _takes_part(b, d)
        case ast.Compare(left=a, ops=[ast.In()]), ast.Compare(left=c, ops=[ast.In()]):
            return _takes_part(a, c)
        case ast.Compare(a, [ast.Eq()]), ast.Compare(
            c, [ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]
        ):
            return ast.dump(a) == ast.dump(c)
        case (
            ast.Compare(ast.Call(ast.Name("abs"), [a]), [ast.Lt() | ast.LtE()]),
            ast.Compare(c, [ast.Lt() | ast.LtE()]),
        ) if ast.dump(a) == ast.dump(c):
            return True
        case ast.Compare(left=a, ops=[_]), ast.Compare(left=c, ops=[_]):
            return is_narrowed(a, c)
        case ast.Call(func=one, args=[a, *_]), ast.Call(func=other, args=[c, *_]):
            name = ast.unparse(one)
            is_search = name.rpartition(".")[2] in _SEARCHING and name == ast.unparse(other)
            return is_search and _takes_part(a, c)
    return False


def _takes_part(old: ast.expr, new: ast.expr) -> bool:
    """Return whether `new` is `old` inside calls or subscripts that keep only a part of it."""
    is_part = False
    while ast.dump(old) != ast.dump(new):
        match new:
            case ast.Subscript(value=inner):
                is_part = True
            case ast.ListComp(each, [ast.comprehension(iter=inner)]):
                is_part |= not isinstance(each, ast.Name)
            case ast.Call(func=ast.Attribute(value=ast.Constant(), attr="join"), args=[inner]):
                pass
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in (
                REDUCING | FORMING
            ):
                is_part |= name in REDUCING
            case ast.Call(func=ast.Name(id=name), args=[inner, *_]) if name in REDUCING | FORMING:
                is_part |= name in REDUCING
            case _:
                return False
        new = inner
    return is_part


def read_condition(text: str) -> ast.expr:
    """Return the condition in a check's text, without the body of a `with` block behind it."""
    body = parse_or_empty(text).body
    return body[0].value if body and isinstance(body[0], ast.Expr) else ast.Constant(text)


def read_truth(test: ast.expr) -> ast.expr:
    """Return a comparison with True, False or length 0 in the idiomatic form: `x` or `not x`."""
    match test:
        case ast.Compare(left, [ast.Eq() | ast.Is()], [ast.Constant(value=bool(wanted))]):
            return left if wanted else ast.UnaryOp(ast.Not(), left)
        case ast.Compare(ast.Call(ast.Name("len"), [value]), [operator], [ast.Constant(0)]):
            if isinstance(operator, (ast.Gt, ast.NotEq)):
                return value
            return ast.UnaryOp(ast.Not(), value) if isinstance(operator, ast.Eq) else test
    return test
