"""What a statement of a test asserts, the same in every form in which it can be written."""

import ast
from collections.abc import Collection, Iterator
from typing import TypeGuard

from greenloop.project.weakening.bindings import Bindings, resolve
from greenloop.project.weakening.skips import hides_failure, is_failing
from greenloop.project.weakening.strength import EXPECTING, is_check_call

_UNITTEST = {
    **dict.fromkeys(("assertEqual", "assertEquals", "assertListEqual"), "{} == {}"),
    **dict.fromkeys(("assertDictEqual", "assertTupleEqual", "assertSetEqual"), "{} == {}"),
    **dict.fromkeys(("assertMultiLineEqual", "assertSequenceEqual"), "{} == {}"),
    **dict.fromkeys(("assertTrue", "assert_"), "{}"),
    "assertFalse": "not {}",
    "assertIs": "{} is {}",
    "assertIsNot": "{} is not {}",
    "assertIn": "{} in {}",
    "assertNotIn": "{} not in {}",
    "assertNotEqual": "{} != {}",
    "assertIsNone": "{} is None",
    "assertIsNotNone": "{} is not None",
    "assertIsInstance": "isinstance({}, {})",
    "assertRaises": "pytest.raises({})",
    "assertGreater": "{} > {}",
    "assertGreaterEqual": "{} >= {}",
    "assertLess": "{} < {}",
    "assertLessEqual": "{} <= {}",
}


def find_conditions(
    node: ast.stmt, bound: Bindings, helpers: Collection[str]
) -> Iterator[tuple[ast.expr, list[ast.stmt]]]:
    """Yield what a statement checks, and of `with` what it holds."""
    match node:
        case ast.Assert(test=ast.BoolOp(op=ast.And(), values=values)):
            yield from ((value, []) for value in values)
        case ast.Assert(
            test=ast.Compare(
                left=ast.Tuple(elts=left), ops=[ast.Eq()], comparators=[ast.Tuple(elts=right)]
            )
        ) if len(left) == len(right):
            pairs = zip(left, right, strict=True)
            yield from ((ast.Compare(mine, [ast.Eq()], [theirs]), []) for mine, theirs in pairs)
        case ast.Assert(
            test=ast.Compare(left=left, ops=[_, _, *_] as operators, comparators=parts)
        ):
            chain = zip([left, *parts], operators, parts, strict=False)
            yield from ((ast.Compare(mine, [i], [theirs]), []) for mine, i, theirs in chain)
        case ast.Assert(test=test):
            yield test, []
        case ast.With(items=items) | ast.AsyncWith(items=items):
            calls = (read_unittest(resolve(item.context_expr, bound)) for item in items)
            yield from ((call, node.body) for call in calls if is_check_call(call))
        case ast.Expr(value=ast.Call(func=raises, args=[kind, *call], keywords=more)) if (
            ast.unparse(raises).rpartition(".")[2] in EXPECTING
        ):
            for function in call[:1]:  # without one it waits for nothing
                expected = read_unittest(ast.Call(raises, [kind], []))
                yield expected, [ast.Expr(ast.Call(function, call[1:], more))]
        case ast.Expr(value=ast.Await(value=value) | value):
            if is_check_call(value) or calls_helper(value, helpers):
                yield read_unittest(value), []


def calls_helper(node: ast.expr, helpers: Collection[str]) -> TypeGuard[ast.Call]:
    """Whether an expression is a call of one of the functions that check."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name)):
            return name in helpers
    return False


def read_unittest(node: ast.expr) -> ast.expr:
    """Return a call of unittest's assertions as the condition of `assert`, or of pytest."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=arguments):
            form = _UNITTEST.get(name, "")
            if form and len(arguments) >= form.count("{"):
                text = form.format(*(f"({ast.unparse(item)})" for item in arguments))
                return ast.parse(text, mode="eval").body
    return node


def read_waiting(node: ast.Try) -> list[ast.stmt]:
    """Return a `try` that fails where nothing is raised as `raises`, and what is asked of the error."""
    match node:
        case ast.Try([*body], [ast.ExceptHandler(type=ast.expr() as kind) as handler], other, []):
            if any(map(is_failing, [*body, *other])) and not hides_failure(handler):
                call = ast.Call(ast.parse("pytest.raises", mode="eval").body, [kind], [])
                called = [item for item in body if not is_failing(item)]
                found = ast.With([ast.withitem(call)], called)
                error = [f"{handler.name} = raised.value"] if handler.name else []
                told = [part for line in error for part in ast.parse(line).body]
                whole = ast.Module([ast.copy_location(found, node), *told, *handler.body], [])
                return ast.fix_missing_locations(whole).body
    return []


def name_raised(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield the name of what waits for an error, with one that is the same in all tests."""
    for item in node.items if isinstance(node, (ast.With, ast.AsyncWith)) else ():
        match item:
            case ast.withitem(ast.Call() as call, ast.Name(id=name)) if is_check_call(call):
                yield name, ast.Name("raised", ast.Load())
