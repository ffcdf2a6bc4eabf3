"""Conditions that test statements assert, normalized over `assert`, unittest, pytest and mocks."""

import ast
from collections.abc import Iterator, Mapping

from greenloop.project.weakening.bindings import Bindings, read_called, resolve
from greenloop.project.weakening.conditions.strength import EXPECTING, is_check_call
from greenloop.project.weakening.skips import hides_failure, is_failing
from greenloop.syntax.nodes import Function

# Functions of a test file; None for those that check nothing.
Helpers = Mapping[str, Function | None]

_UNITTEST = {
    **dict.fromkeys(("assertEqual", "assertEquals", "assertListEqual"), "{} == {}"),
    **dict.fromkeys(("assertDictEqual", "assertTupleEqual", "assertSetEqual"), "{} == {}"),
    **dict.fromkeys(("assertMultiLineEqual", "assertSequenceEqual"), "{} == {}"),
    **dict.fromkeys(("assertTrue", "assert_"), "{}"),
    "assertFalse": "not {}",
    "assertCountEqual": "sorted({}) == sorted({})",
    "assertRegex": "re.search({1}, {0})",
    "assertNotRegex": "not re.search({1}, {0})",
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
# Assertions of a mock: the condition on the number of calls, and the assertion of the arguments.
_OF_CALLS = {
    "assert_called_once_with": ("call_count == 1", "assert_called_with"),
    "assert_awaited_once_with": ("await_count == 1", "assert_awaited_with"),
    "assert_called_once": ("call_count == 1", ""),
    "assert_awaited_once": ("await_count == 1", ""),
    "assert_not_called": ("call_count == 0", ""),
    "assert_not_awaited": ("await_count == 0", ""),
    "assert_called": ("called", ""),
    "assert_awaited": ("await_count > 0", ""),
}


def find_conditions(
    node: ast.stmt, bound: Bindings, helpers: Helpers
) -> Iterator[tuple[ast.expr, list[ast.stmt]]]:
    """Yield the conditions that a statement checks, each with the body of its `with` block."""
    match node:
        case ast.Assert(test=test):
            yield from ((condition, []) for condition in _split(test))
        case ast.With(items=items) | ast.AsyncWith(items=items):
            if not items[1:] and any(isinstance(part, ast.Raise) for part in node.body):
                return  # the test itself raises the expected error, without the code under test
            calls = (read_unittest(resolve(item.context_expr, bound)) for item in items)
            yield from ((call, node.body) for call in calls if is_check_call(call))
        case ast.Expr(value=ast.Call(func=raises, args=[kind, *call], keywords=more)) if (
            ast.unparse(raises).rpartition(".")[2] in EXPECTING
        ):
            for function in call[:1]:  # without a function nothing can raise
                expected = read_unittest(ast.Call(raises, [kind], []))
                yield expected, [ast.Expr(ast.Call(function, call[1:], more))]
        case ast.Expr(value=ast.Call(func=ast.Attribute(mock, name)) as call) if name in _OF_CALLS:
            yield from ((item, []) for item in _read_mock(mock, name, call))
        case ast.Expr(value=ast.Await(value=value) | value):
            name, condition = read_called(value), read_unittest(value)
            if condition is not value and not is_check_call(condition):
                yield from ((part, []) for part in _split(condition))
            elif helpers[name] if name in helpers else is_check_call(value):
                yield condition, []


def _split(test: ast.expr) -> Iterator[ast.expr]:
    """Yield the conditions that together are equivalent to one."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            yield from values
        case ast.Compare(ast.Tuple(elts=left), [ast.Eq()], [ast.Tuple(elts=right)]) if len(
            left
        ) == len(right):
            pairs = zip(left, right, strict=True)
            yield from (ast.Compare(mine, [ast.Eq()], [theirs]) for mine, theirs in pairs)
        case ast.Compare(
            ast.ListComp(each, [ast.comprehension(ast.Name(name), several, [], 0)]),
            [ast.Eq()],
            [ast.List(elts=[_, *_] as wanted)],
        ):
            size = ast.Call(ast.Name("len", ast.Load()), [several], [])
            yield ast.Compare(size, [ast.Eq()], [ast.Constant(len(wanted))])
            for number, value in enumerate(wanted):
                item = ast.Subscript(several, ast.Constant(number), ast.Load())
                yield from _split(ast.Compare(resolve(each, {name: item}), [ast.Eq()], [value]))
        case ast.Compare(left=left, ops=[_, _, *_] as operators, comparators=parts):
            chain = zip([left, *parts], operators, parts, strict=False)
            yield from (ast.Compare(mine, [i], [theirs]) for mine, i, theirs in chain)
        case ast.Compare(
            ast.Attribute(mock, "mock_calls" | "call_args_list"),
            [ast.Eq()],
            [ast.List([ast.Call() as call])],
        ):
            yield from _read_mock(mock, "assert_called_once_with", call)
        case _:
            yield test


def spread_quantifier(node: ast.stmt) -> ast.stmt:
    """Return `assert all(… for … in … if …)` as the equivalent loop."""
    match node:
        case ast.Assert(
            test=ast.Call(
                func=ast.Name(id="all"),
                args=[ast.GeneratorExp(each, [part]) | ast.ListComp(each, [part])],
            )
        ):
            body: list[ast.stmt] = [ast.Assert(each)]
            for condition in part.ifs:
                body = [ast.If(condition, body, [])]
            loop = ast.copy_location(ast.For(part.target, part.iter, body, []), node)
            return ast.fix_missing_locations(loop)
    return node


def _read_mock(mock: ast.expr, name: str, call: ast.Call) -> Iterator[ast.expr]:
    """Yield the conditions of a mock's assertion: the number of calls, and their arguments."""
    count, how = _OF_CALLS[name]
    yield ast.parse(f"{ast.unparse(mock)}.{count}", mode="eval").body
    if how:
        yield ast.Call(ast.Attribute(mock, how, ast.Load()), call.args, call.keywords)


def read_unittest(node: ast.expr) -> ast.expr:
    """Return an assertion call of unittest as the condition of `assert`, or as a pytest call."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=arguments):
            form = _UNITTEST.get(name, "")
            if form and len(arguments) >= form.count("{"):
                text = form.format(*(f"({ast.unparse(item)})" for item in arguments))
                return ast.parse(text, mode="eval").body
    return node


def read_waiting(node: ast.Try) -> list[ast.stmt]:
    """Return a `try` that fails if nothing is raised as `pytest.raises` and its handler's body."""
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
    """Yield the name of each `as` target of `raises` or `catch_warnings`, bound to `raised`."""
    for item in node.items if isinstance(node, (ast.With, ast.AsyncWith)) else ():
        match item:
            case ast.withitem(ast.Call() as call, ast.Name(id=name)) if is_check_call(
                call
            ) or ast.unparse(call.func).endswith("catch_warnings"):
                yield name, ast.Name("raised", ast.Load())
