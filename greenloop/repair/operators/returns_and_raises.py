"""Operators on returned values, exceptions, mutable defaults and whole expressions."""

import ast

from greenloop.repair.context import Edits, RepairContext
from greenloop.syntax.nodes import Function
from greenloop.syntax.operators.protocol import edit_operator, get_raised_class

_COMMON_EXCEPTIONS = ("ValueError", "TypeError", "KeyError", "IndexError", "AttributeError")
_RARE_EXCEPTIONS = ("ZeroDivisionError", "LookupError", "RuntimeError", "OSError", "Exception")
_RETURN_CONSTANTS = ("None", "True", "False", "0", "1", "-1", "[]", '""', "{}")


@edit_operator()
def replace_return_value(context: RepairContext, node: ast.Return) -> Edits:
    """Return another variable or a constant."""
    if node.value is None:
        for name in (*context.scope.variables, context.scope.self_name, *_RETURN_CONSTANTS[1:]):
            if name:
                cost = 1.8 if name in context.scope.variables else 2.6
                yield context.edit(node, f"return {name}", "return", cost)
        return
    old = context.text(node.value)
    for name in context.scope.variables:
        if name != old and not isinstance(node.value, (ast.Name, ast.Attribute)):
            yield context.edit(node.value, name, "return", 2.4)
    for text in dict.fromkeys((*context.hints.expected_values, *_RETURN_CONSTANTS)):
        if text != old:
            plain = isinstance(node.value, (ast.Constant, ast.Name))
            yield context.edit(node.value, text, "return", 2.2 if plain else 3.4)


@edit_operator()
def replace_exception(context: RepairContext, node: ast.Raise | ast.ExceptHandler) -> Edits:
    """Raise or catch another exception."""
    if isinstance(node, ast.Raise):
        raised = get_raised_class(node)
        if raised is not None:
            yield from _replace_exception_name(context, raised)
    elif node.type is not None:
        yield from _replace_exception_name(context, node.type)
        for _, name in context.hints.crashes:
            text = f"({context.text(node.type)}, {name})"
            if not isinstance(node.type, ast.Tuple) and name.isidentifier():
                yield context.edit(node.type, text, "exception", 2.0)


def _replace_exception_name(context: RepairContext, named: ast.expr) -> Edits:
    own = [name for item in ast.walk(context.ancestors[0]) for name in _list_exceptions(item)]
    raised = [name for _, name in context.hints.crashes if name.isidentifier()]
    wanted = [*context.hints.expected_exceptions, *raised]
    for name in dict.fromkeys((*wanted, *own, *_COMMON_EXCEPTIONS, *_RARE_EXCEPTIONS)):
        if name != context.text(named):
            cost = 1.4 if name in wanted else 1.8 if name in (*own, *_COMMON_EXCEPTIONS) else 2.2
            yield context.edit(named, name, "exception", cost)


def _list_exceptions(node: ast.AST) -> list[str]:
    """Return the classes that a statement defines or raises, and the errors that it imports."""
    match node:
        case ast.ClassDef(name=name):
            return [name]
        case ast.ImportFrom(names=names):
            imported = (item.asname or item.name for item in names)
            return [name for name in imported if name.endswith(("Error", "Exception"))]
        case ast.Raise():
            raised = get_raised_class(node)
            return [ast.unparse(raised)] if raised is not None else []
    return []


@edit_operator()
def fix_mutable_default(context: RepairContext, node: Function) -> Edits:
    """Create a mutable default in the function's body, once per call."""
    plain = [*node.args.posonlyargs, *node.args.args]
    pairs = list(
        zip(plain[len(plain) - len(node.args.defaults) :], node.args.defaults, strict=True)
    )
    pairs += [(a, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d]
    for argument, value in pairs:
        empty = isinstance(value, (ast.List, ast.Dict, ast.Set, ast.Call))
        first = _find_first_statement(node)
        if not empty or first is None:
            continue
        head = context.source.line_start(first.lineno)
        indent = context.source.text[head : context.source.span(first)[0]]
        if indent.strip():
            continue
        start, end = context.source.span(value)
        name = argument.arg
        made = f"{indent}if {name} is None:\n{indent}    {name} = {context.text(value)}\n"
        text = "None" + context.source.text[end:head] + made
        yield context.edit_span(start, head, text, "mutable default", 1.2)


def _find_first_statement(node: Function) -> ast.stmt | None:
    """Return the first statement after the docstring; None if it is on the header's line."""
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return body[0] if body and body[0].lineno > node.lineno else None


@edit_operator()
def change_conditional_expression(context: RepairContext, node: ast.IfExp) -> Edits:
    """Swap the values of `a if c else b`, or keep only one of them."""
    body, test, other = (context.text(item) for item in (node.body, node.test, node.orelse))
    yield context.edit(node, f"{other} if {test} else {body}", "swapped branches", 1.5)
    yield context.edit(node, f"({body})", "branch left out", 2.8)
    yield context.edit(node, f"({other})", "branch left out", 2.8)
