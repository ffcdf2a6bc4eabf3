"""Operators on names: other variables and attributes, changed arguments, a missing `self.`."""

import ast
from itertools import combinations

from greenloop.repair.context import CandidateEdit, Edits, RepairContext
from greenloop.syntax.nodes import get_last_name
from greenloop.syntax.operators.protocol import edit_operator

_AFFIX_LENGTH = 3


@edit_operator()
def replace_variable(context: RepairContext, node: ast.Name | ast.Attribute) -> Edits:
    """Use another variable; one that is used in the same way costs less."""
    scope = context.scope
    text = context.text(node)
    if text not in scope.variables:
        return
    stored = isinstance(node.ctx, ast.Store)
    if stored and isinstance(context.parent, (ast.comprehension, ast.For, ast.Tuple)):
        return
    for other in (*scope.variables, *(scope.constants if not stored else ())):
        if other not in (text, "_"):
            cost = 1.5 if scope.has_common_role(text, other) else 2.1
            cost -= 0.2 * _is_spelled_similarly(text, other)
            yield context.edit(node, other, "variable", cost + 0.6 * stored)


def _is_spelled_similarly(one: str, other: str) -> bool:
    return (
        one[:_AFFIX_LENGTH] == other[:_AFFIX_LENGTH]
        or one[-_AFFIX_LENGTH:] == other[-_AFFIX_LENGTH:]
    )


@edit_operator()
def replace_attribute(context: RepairContext, node: ast.Attribute) -> Edits:
    """Replace `node.left` by `node.right`: another attribute that the module uses."""
    if context.text(node) in context.scope.variables:
        return
    if isinstance(context.parent, ast.Call) and context.is_field("func"):
        return
    base, nodes = ast.dump(node.value), list(ast.walk(context.ancestors[0]))
    called = {item.func for item in nodes if isinstance(item, ast.Call)}
    seen = {node.attr}
    for other in nodes:
        if isinstance(other, ast.Attribute) and other.attr not in seen and other not in called:
            seen.add(other.attr)
            cost = 1.5 if ast.dump(other.value) == base else 2.3
            text = f"{context.get_parenthesized_text(node.value)}.{other.attr}"
            yield context.edit(node, text, "attribute", cost)


@edit_operator()
def add_missing_self(context: RepairContext, node: ast.Name) -> Edits:
    """Replace `x` by `self.x`; that costs more where a variable `x` is read."""
    own = context.scope.self_name
    if not own:
        return
    is_bound = isinstance(node.ctx, ast.Load) and node.id in context.scope.names
    for name in (*context.scope.attributes, *(f"{own}.{item}" for item in context.scope.methods)):
        if name.partition(".")[2] in (node.id, f"_{node.id}"):
            yield context.edit(node, name, "missing self", 2.4 if is_bound else 1.2)
    if isinstance(node.ctx, ast.Store) and isinstance(context.parent, ast.Assign):
        yield context.edit(node, f"{own}.{node.id}", "missing self", 1.6)


@edit_operator()
def change_arguments(context: RepairContext, node: ast.Call | ast.Tuple | ast.List) -> Edits:
    """Swap two arguments or two items of a tuple; drop an argument; add a keyword argument."""
    if isinstance(node, ast.Call):
        for left, right in combinations(node.args, 2):
            yield _swap_nodes(context, left, right, 1.5)
        if len(node.args) > 1 or node.keywords:
            yield from _drop_argument(context, node)
        yield from _add_argument(context, node)
    else:
        for left, right in combinations(node.elts[:4], 2):
            yield _swap_nodes(context, left, right, 1.8)
        for index, item in enumerate(node.elts if len(node.elts) > 1 else ()):
            start, end = context.source.span(item)
            other = context.source.span(node.elts[index - 1 if index else 1])
            start, end = (other[1], end) if index else (start, other[0])
            yield context.edit_span(start, end, "", "item left out", 2.9)


def _swap_nodes(
    context: RepairContext, left: ast.expr, right: ast.expr, cost: float
) -> CandidateEdit:
    start, end = context.source.span(left)[0], context.source.span(right)[1]
    between = context.source.text[context.source.span(left)[1] : context.source.span(right)[0]]
    text = f"{context.text(right)}{between}{context.text(left)}"
    return context.edit_span(start, end, text, "swapped arguments", cost)


def _drop_argument(context: RepairContext, node: ast.Call) -> Edits:
    parts = context.argument_texts(node)
    for index in range(len(parts)):
        text = context.call_text(node, parts[:index] + parts[index + 1 :])
        yield context.edit(node, text, "argument left out", 2.6)


def _add_argument(context: RepairContext, node: ast.Call) -> Edits:
    """Add an argument that the called function of this module accepts."""
    target = _find_definition(context, node)
    if target is None:
        return
    is_method = bool(context.scope.self_name) and isinstance(node.func, ast.Attribute)
    names = [item.arg for item in (*target.args.posonlyargs, *target.args.args)][is_method:]
    missing = [*names[len(node.args) :], *(item.arg for item in target.args.kwonlyargs)]
    given = {item.arg for item in node.keywords}
    known = (*context.scope.variables, "True", "False", "1", "0")
    for name in missing:
        for value in dict.fromkeys((name, *known)) if name not in given else ():
            if value in known:
                arguments = (*context.argument_texts(node), f"{name}={value}")
                text = context.call_text(node, arguments)
                yield context.edit(node, text, "argument added", 1.8 if value == name else 2.5)


def _find_definition(context: RepairContext, node: ast.Call) -> ast.FunctionDef | None:
    name = get_last_name(node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else ""
    functions = (i for i in ast.walk(context.ancestors[0]) if isinstance(i, ast.FunctionDef))
    return next((item for item in functions if item.name == name), None)
