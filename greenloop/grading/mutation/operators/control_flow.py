"""Operators on the flow: conditions, loops, returns, exceptions, statements left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.grading.mutation.mutant import Change
from greenloop.syntax.nodes import Place, in_function, name_of
from greenloop.syntax.source import Source

_CONDITIONAL = (ast.If, ast.While, ast.IfExp, ast.Assert)
_NOTHING = "None"


def condition(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """`if c` becomes `if not (c)`; so do `while`, `assert`, `… if c else …`, filters and guards.

    Not for one comparison alone: turning its sign round says the same.
    """
    if isinstance(node, _CONDITIONAL):
        tests = [node.test]
    elif isinstance(node, ast.comprehension):
        tests = node.ifs
    else:
        guard = getattr(node, "guard", None)  # of `case`, which Python 3.9 did not have
        tests = [guard] if isinstance(guard, ast.expr) else []
    for test in tests:
        single = isinstance(test, ast.Compare) and len(test.ops) == 1
        if not single and not isinstance(test, (ast.Constant, ast.NamedExpr)):
            yield Change("condition", *source.span(test), f"(not ({source.of(test)}))")


def loop(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """A loop that never turns; `break` for `continue`, and the other way."""
    if isinstance(node, ast.For):
        yield Change("no-turn", *source.span(node.iter), "()")
    elif isinstance(node, ast.While) and not isinstance(node.test, ast.Constant):
        yield Change("no-turn", *source.span(node.test), "False")
    elif isinstance(node, ast.Break):
        yield Change("break", *source.span(node), "continue")
    elif isinstance(node, ast.Continue):
        yield Change("continue", *source.span(node), "break")


def result(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """What is returned, yielded, or made by a lambda becomes None."""
    kinds: tuple[tuple[type[ast.AST], str], ...] = (
        (ast.Return, "result"),
        (ast.Yield, "yielded"),
        (ast.Lambda, "result"),
    )
    for kind, operator in kinds:
        if isinstance(node, kind):
            value = node.body if isinstance(node, ast.Lambda) else getattr(node, "value", None)
            if isinstance(value, ast.expr) and not _is_covered(value):
                yield Change(operator, *source.span(value), _NOTHING)


def assignment(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """In a function `x = value` becomes `x = None`; at module level it is what constants are for."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not in_function(place):
        return
    if node.value is not None and not isinstance(node.value, (ast.Constant, ast.Yield)):
        yield Change("assignment", *source.span(node.value), _NOTHING)


def statement(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """A call whose result nobody takes, a `raise`, `del` or `assert` is left out."""
    if isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Await)):
        yield Change("call-removed", *source.span(node), "pass")
    elif isinstance(node, ast.Raise):
        yield Change("raise-removed", *source.span(node), "pass")
    elif isinstance(node, (ast.Delete, ast.Assert)):
        yield Change("statement-removed", *source.span(node), "pass")


def exception(node: ast.AST, place: Place, source: Source) -> Iterator[Change]:
    """A handler catches nothing; another exception is raised."""
    if isinstance(node, ast.ExceptHandler):
        if node.type is None:
            start = source.span(node)[0] + len("except")
            yield Change("handler", start, start, " ()")
        elif not isinstance(node.type, ast.Tuple) or node.type.elts:
            yield Change("handler", *source.span(node.type), "()")
    elif isinstance(node, ast.Raise) and node.exc is not None:
        called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        name = name_of(called)
        if name[:1].isupper():
            other = "Exception" if name != "Exception" else "BaseException"
            yield Change("exception", *source.span(called), other)


def _is_covered(node: ast.expr) -> bool:
    """None is None already; of True and False the opposite says more."""
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))
