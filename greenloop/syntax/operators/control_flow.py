"""Operators on control flow: conditions, loops, results, exceptions, deleted statements."""

import ast
from collections.abc import Iterator

from greenloop.syntax.nodes import NodeContext, get_last_name
from greenloop.syntax.operators.protocol import edit_operator, get_raised_class
from greenloop.syntax.source import TextEdit


@edit_operator("condition")
def negate_condition(
    context: NodeContext,
    node: ast.If | ast.While | ast.IfExp | ast.Assert | ast.comprehension | ast.match_case,
) -> Iterator[TextEdit]:
    """Replace `if c` by `if not (c)`, and likewise all other conditions, filters and guards.

    A single comparison is left to the operators on comparisons, whose mutants are the same.
    """
    if isinstance(node, ast.comprehension):
        tests = node.ifs
    elif isinstance(node, ast.match_case):
        tests = [node.guard] if node.guard else []
    else:
        tests = [node.test]
    for test in tests:
        is_single = isinstance(test, ast.Compare) and len(test.ops) == 1
        if not is_single and not isinstance(test, (ast.Constant, ast.NamedExpr)):
            yield context.replace(test, f"(not ({context.text(test)}))")


@edit_operator("no-turn")
def skip_loop(context: NodeContext, node: ast.For | ast.While) -> Iterator[TextEdit]:
    """Make a loop end before its first iteration."""
    if isinstance(node, ast.For):
        yield context.replace(node.iter, "()")
    elif not isinstance(node.test, ast.Constant):
        yield context.replace(node.test, "False")


@edit_operator("break", cost=1.3)
def replace_break(context: NodeContext, node: ast.Break) -> Iterator[TextEdit]:
    """Replace `break` by `continue`."""
    yield context.replace(node, "continue")


@edit_operator("continue", cost=1.3)
def replace_continue(context: NodeContext, node: ast.Continue) -> Iterator[TextEdit]:
    """Replace `continue` by `break`."""
    yield context.replace(node, "break")


@edit_operator("result")
def discard_result(context: NodeContext, node: ast.Return | ast.Lambda) -> Iterator[TextEdit]:
    """Replace the result of a function or lambda by None."""
    return _replace_by_none(context, node.body if isinstance(node, ast.Lambda) else node.value)


@edit_operator("yielded")
def discard_yielded(context: NodeContext, node: ast.Yield) -> Iterator[TextEdit]:
    """Replace a yielded value by None."""
    return _replace_by_none(context, node.value)


def _replace_by_none(context: NodeContext, value: ast.expr | None) -> Iterator[TextEdit]:
    """Replace a value by None; not None itself, nor True and False, which `truth` negates."""
    if value is not None and not (
        isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, bool))
    ):
        yield context.replace(value, "None")


@edit_operator("assignment")
def discard_assigned(context: NodeContext, node: ast.Assign | ast.AnnAssign) -> Iterator[TextEdit]:
    """Replace `x = value` in a function by `x = None`; module constants have their own mutants."""
    if context.is_in_function and not isinstance(node.value, (ast.Constant, ast.Yield, type(None))):
        yield context.replace(node.value, "None")


@edit_operator("call-removed")
def remove_call(context: NodeContext, node: ast.Expr) -> Iterator[TextEdit]:
    """Delete a call whose result is not used."""
    if isinstance(node.value, (ast.Call, ast.Await)):
        yield context.replace(node, "pass")


@edit_operator("raise-removed")
def remove_raise(context: NodeContext, node: ast.Raise) -> Iterator[TextEdit]:
    """Delete a `raise` statement."""
    yield context.replace(node, "pass")


@edit_operator("statement-removed")
def remove_statement(context: NodeContext, node: ast.Delete | ast.Assert) -> Iterator[TextEdit]:
    """Delete a `del` or `assert` statement."""
    yield context.replace(node, "pass")


@edit_operator("handler")
def disable_handler(context: NodeContext, node: ast.ExceptHandler) -> Iterator[TextEdit]:
    """Make an exception handler catch nothing."""
    if node.type is None:
        start = context.source.span(node)[0] + len("except")
        yield TextEdit(start, start, " ()")
    elif not isinstance(node.type, ast.Tuple) or node.type.elts:
        yield context.replace(node.type, "()")


@edit_operator("exception")
def change_exception(context: NodeContext, node: ast.Raise) -> Iterator[TextEdit]:
    """Raise Exception in place of another exception class."""
    raised, name = get_raised_class(node), get_last_name(get_raised_class(node))
    if raised is not None and name[:1].isupper():
        yield context.replace(raised, "Exception" if name != "Exception" else "BaseException")
