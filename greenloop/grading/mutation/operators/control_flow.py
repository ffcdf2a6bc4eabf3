"""Operators on the flow: conditions, loops, returns, exceptions, statements left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.grading.mutation.mutant import ProposedChange
from greenloop.syntax.nodes import NodeLocation, get_last_name, is_in_function
from greenloop.syntax.source import Source

_CONDITIONAL = (ast.If, ast.While, ast.IfExp, ast.Assert)
_NONE_SOURCE = "None"


def negate_condition(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
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
            yield ProposedChange(
                "condition", *source.span(test), f"(not ({source.get_segment(test)}))"
            )


def mutate_loop(node: ast.AST, location: NodeLocation, source: Source) -> Iterator[ProposedChange]:
    """A loop that never turns; `break` for `continue`, and the other way."""
    if isinstance(node, ast.For):
        yield ProposedChange("no-turn", *source.span(node.iter), "()")
    elif isinstance(node, ast.While) and not isinstance(node.test, ast.Constant):
        yield ProposedChange("no-turn", *source.span(node.test), "False")
    elif isinstance(node, ast.Break):
        yield ProposedChange("break", *source.span(node), "continue")
    elif isinstance(node, ast.Continue):
        yield ProposedChange("continue", *source.span(node), "break")


def mutate_result(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """What is returned, yielded, or made by a lambda becomes None."""
    kinds: tuple[tuple[type[ast.AST], str], ...] = (
        (ast.Return, "result"),
        (ast.Yield, "yielded"),
        (ast.Lambda, "result"),
    )
    for kind, operator in kinds:
        if isinstance(node, kind):
            value = node.body if isinstance(node, ast.Lambda) else getattr(node, "value", None)
            if isinstance(value, ast.expr) and not _is_none_or_bool(value):
                yield ProposedChange(operator, *source.span(value), _NONE_SOURCE)


def mutate_assignment(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """In a function `x = value` becomes `x = None`; at module level it is what constants are for."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not is_in_function(location):
        return
    if node.value is not None and not isinstance(node.value, (ast.Constant, ast.Yield)):
        yield ProposedChange("assignment", *source.span(node.value), _NONE_SOURCE)


def remove_statement(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """A call whose result nobody takes, a `raise`, `del` or `assert` is left out."""
    if isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Await)):
        yield ProposedChange("call-removed", *source.span(node), "pass")
    elif isinstance(node, ast.Raise):
        yield ProposedChange("raise-removed", *source.span(node), "pass")
    elif isinstance(node, (ast.Delete, ast.Assert)):
        yield ProposedChange("statement-removed", *source.span(node), "pass")


def mutate_exception(
    node: ast.AST, location: NodeLocation, source: Source
) -> Iterator[ProposedChange]:
    """A handler catches nothing; another exception is raised."""
    if isinstance(node, ast.ExceptHandler):
        if node.type is None:
            start = source.span(node)[0] + len("except")
            yield ProposedChange("handler", start, start, " ()")
        elif not isinstance(node.type, ast.Tuple) or node.type.elts:
            yield ProposedChange("handler", *source.span(node.type), "()")
    elif isinstance(node, ast.Raise) and node.exc is not None:
        called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        name = get_last_name(called)
        if name[:1].isupper():
            other = "Exception" if name != "Exception" else "BaseException"
            yield ProposedChange("exception", *source.span(called), other)


def _is_none_or_bool(node: ast.expr) -> bool:
    """None is None already; of True and False the opposite says more."""
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))
