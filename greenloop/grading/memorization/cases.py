"""The tests' inputs: calls with plain arguments, and programs that end in one answer."""

import ast
from collections.abc import Collection, Iterator
from typing import Any

from greenloop.grading.context import GradingContext
from greenloop.grading.inputs.known_calls import iterate_calls, read_constants, read_public
from greenloop.grading.inputs.programs import Input, is_numbered
from greenloop.grading.observation.isolation import plan_programs
from greenloop.sandbox.guest.observation.inputs.calls import ANSWER
from greenloop.syntax.nodes import Function, fold_signs
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.module_under_test import fill_in, read_imports
from greenloop.testsuite.programs import Program
from greenloop.testsuite.programs.writing import drop_unread


def read_cases(context: GradingContext) -> tuple[list[Input], tuple[str, ...]]:
    """Return the tests' inputs without duplicates, and the public names of the module.

    A program is taken if no call with plain arguments calls the same function or method.
    """
    tests = [context.read_test(item)[0] for item in context.tests]
    public = _list_called(context, tests)
    found = iterate_calls(tests, context.module, public, read_constants(context.code))
    calls = [Input(call, ast.unparse(call.func)) for _, call in found if call.args or call.keywords]
    known = {item.name for item in calls}
    nodes = ast.walk(parse_or_empty(context.code))
    defined = {node.name for node in nodes if isinstance(node, Function)} - known
    plans = [plan_programs(context, file) for file in context.tests]
    slices = [
        Input(node, name, plan.preamble, program.fixtures)
        for plan in plans
        for program in plan.programs
        for name, node in _slice(program, defined)
    ]
    unique = {(item.preamble, item.text): item for item in (*calls, *slices)}
    return list(unique.values()), public


def _list_called(context: GradingContext, tests: list[str]) -> tuple[str, ...]:
    """Return the public names of the module, and its other names that the tests import."""
    imported = (
        name
        for text in tests
        for name in read_imports(parse_or_empty(text), context.module).values()
    )
    return tuple(dict.fromkeys([*read_public("", context.code), *filter(None, imported)]))


def _slice(program: Program, defined: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Yield a program for each answer that the test compares, with the function that gives it."""
    body: list[ast.stmt] = []
    wanted = {item.number for item in program.expectations}
    for node in program.function.body:
        if not any(map(is_numbered, ast.walk(node))):
            body.append(node)
            continue
        match node:
            case ast.Expr(value=ast.Call(func=see, args=[ast.Constant(value=number), asked])) if (
                number in wanted
            ):
                last = ast.Expr(ast.Call(see, [ast.Constant(ANSWER), asked], []))
                made: Any = type(program.function)("program", program.function.args, [], [])
                made.body = drop_unread([*body, last])
                ast.fix_missing_locations(made)
                shown = show(Input(made, ""))
                names = (getattr(i, "attr", getattr(i, "id", "")) for i in ast.walk(shown))
                if name := next((item for item in names if item in defined), ""):
                    yield name, made


def show(item: Input) -> ast.expr:
    """Return a call, or the last expression of a program with its names replaced by values."""
    if isinstance(item.node, ast.expr):
        return item.node
    *before, last = item.node.body  # type: ignore[attr-defined]
    values: dict[str, ast.expr] = {}
    for node in before:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values[name] = fill_in(value, values)
    return fold_signs(fill_in(last.value.args[1], values))


def list_constants(item: Input) -> list[object]:
    """Return the constants of a call or program, without the numbers of observations."""
    numbers = {id(i.args[0]) for i in ast.walk(item.node) if is_numbered(i)}  # type: ignore[attr-defined]
    nodes = (node for node in ast.walk(item.node) if id(node) not in numbers)
    return [node.value for node in nodes if isinstance(node, ast.Constant)]
