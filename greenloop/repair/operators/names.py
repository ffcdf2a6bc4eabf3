"""Another variable, another attribute, arguments swapped, a missing `self.`"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.repair.context import NodeContext
from greenloop.syntax.edit import TextEdit

_AFFIX_LENGTH = 3


def replace_variable(context: NodeContext) -> Iterator[TextEdit]:
    """Another name at hand in place of this; those that are used alike first."""
    node, scope = context.node, context.scope
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return
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
            yield context.replace_node(node, other, "variable", cost + 0.6 * stored)


def _is_spelled_similarly(one: str, other: str) -> bool:
    return (
        one[:_AFFIX_LENGTH] == other[:_AFFIX_LENGTH]
        or one[-_AFFIX_LENGTH:] == other[-_AFFIX_LENGTH:]
    )


def replace_attribute(context: NodeContext) -> Iterator[TextEdit]:
    """`node.left` becomes `node.right`: another attribute that the module uses."""
    node = context.node
    if not isinstance(node, ast.Attribute) or context.text(node) in context.scope.variables:
        return
    if isinstance(context.parent, ast.Call) and context.is_field("func"):
        return
    base = ast.dump(node.value)
    seen = {node.attr}
    for other in ast.walk(context.ancestors[0]):
        if (
            isinstance(other, ast.Attribute)
            and other.attr not in seen
            and not _is_callee(context, other)
        ):
            seen.add(other.attr)
            cost = 1.5 if ast.dump(other.value) == base else 2.3
            text = f"{context.parenthesized_text(node.value)}.{other.attr}"
            yield context.replace_node(node, text, "attribute", cost)


def _is_callee(context: NodeContext, wanted: ast.Attribute) -> bool:
    return any(
        isinstance(item, ast.Call) and item.func is wanted
        for item in ast.walk(context.ancestors[0])
    )


def replace_called_function(context: NodeContext) -> Iterator[TextEdit]:
    """`self.a()` becomes `self.b()`, `f(x)` becomes `g(x)`: of the same class or module."""
    node, scope = context.node, context.scope
    if not isinstance(node, ast.Call):
        return
    called = node.func
    if isinstance(called, ast.Name) and called.id in scope.functions:
        for other in scope.functions:
            if other != called.id:
                yield context.replace_node(called, other, "function", 2.2)
    elif isinstance(called, ast.Attribute) and called.attr in scope.methods:
        for other in scope.methods:
            if other != called.attr:
                text = f"{context.parenthesized_text(called.value)}.{other}"
                yield context.replace_node(called, text, "function", 2.3)


def add_missing_self(context: NodeContext) -> Iterator[TextEdit]:
    node, own = context.node, context.scope.self_name
    if not own or not isinstance(node, ast.Name):
        return
    for name in (*context.scope.attributes, *(f"{own}.{item}" for item in context.scope.methods)):
        if name.partition(".")[2] in (node.id, f"_{node.id}"):
            yield context.replace_node(node, name, "missing self", 1.2)
    if isinstance(node.ctx, ast.Store) and isinstance(context.parent, ast.Assign):
        yield context.replace_node(node, f"{own}.{node.id}", "missing self", 1.6)


def change_arguments(context: NodeContext) -> Iterator[TextEdit]:
    """Two arguments, or two parts of a tuple, swapped; one left out; a name added."""
    node = context.node
    if isinstance(node, ast.Call):
        for left, right in _iter_pairs(node.args):
            yield _swap_nodes(context, left, right, 1.5)
        if len(node.args) > 1 or node.keywords:
            yield from _drop_argument(context, node)
        yield from _add_argument(context, node)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for left, right in _iter_pairs(node.elts[:4]):
            yield _swap_nodes(context, left, right, 1.8)


def _iter_pairs(nodes: list[ast.expr]) -> Iterator[tuple[ast.expr, ast.expr]]:
    for at, left in enumerate(nodes):
        for right in nodes[at + 1 :]:
            yield left, right


def _swap_nodes(context: NodeContext, left: ast.expr, right: ast.expr, cost: float) -> TextEdit:
    start, end = context.source.span(left)[0], context.source.span(right)[1]
    between = context.source.text[context.source.span(left)[1] : context.source.span(right)[0]]
    text = f"{context.text(right)}{between}{context.text(left)}"
    return context.replace_span(start, end, text, "swapped arguments", cost)


def _drop_argument(context: NodeContext, node: ast.Call) -> Iterator[TextEdit]:
    parts = [
        *(context.text(item) for item in node.args),
        *(_format_keyword(context, k) for k in node.keywords),
    ]
    for at in range(len(parts)):
        text = f"{context.text(node.func)}({', '.join(parts[:at] + parts[at + 1 :])})"
        yield context.replace_node(node, text, "argument left out", 2.6)


def _format_keyword(context: NodeContext, keyword: ast.keyword) -> str:
    value = context.text(keyword.value)
    return f"{keyword.arg}={value}" if keyword.arg else f"**{value}"


def _add_argument(context: NodeContext, node: ast.Call) -> Iterator[TextEdit]:
    """Only what the called function of this module takes."""
    target = _find_definition(context, node)
    if target is None:
        return
    own = bool(context.scope.self_name) and isinstance(node.func, ast.Attribute)
    names = [item.arg for item in (*target.args.posonlyargs, *target.args.args)][own:]
    given = {item.arg for item in node.keywords}
    inner = [
        *(context.text(item) for item in node.args),
        *(_format_keyword(context, k) for k in node.keywords),
    ]
    for name in [*names[len(node.args) :], *(item.arg for item in target.args.kwonlyargs)]:
        if name in given:
            continue
        for value in dict.fromkeys((name, *context.scope.variables, "True", "False", "1", "0")):
            if value in (*context.scope.variables, "True", "False", "1", "0"):
                added = f"{name}={value}"
                text = f"{context.text(node.func)}({', '.join([*inner, added])})"
                yield context.replace_node(
                    node, text, "argument added", 1.8 if value == name else 2.5
                )


def _find_definition(context: NodeContext, node: ast.Call) -> ast.FunctionDef | None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    for item in ast.walk(context.ancestors[0]):
        if isinstance(item, ast.FunctionDef) and item.name == name:
            return item
    return None
