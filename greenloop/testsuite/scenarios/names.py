"""Names in syntax trees: which a node binds, and which it uses from outside"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
Function = ast.FunctionDef | ast.AsyncFunctionDef
_LEAVES = frozenset({ast.Name, ast.Constant})  # most nodes
_BINDING = (Comprehension, ast.Lambda, Function)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the parts of a node that have parts themselves, so no operators.

    `ast.iter_child_nodes` takes four times as long.
    """
    found: list[ast.AST] = []
    for key in () if type(node) in _LEAVES else node._fields:
        value = getattr(node, key, None)
        if type(value) is list:
            found += [item for item in value if isinstance(item, ast.AST) and item._fields]
        elif isinstance(value, ast.AST) and value._fields:
            found.append(value)
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all its parts, in no particular order."""
    pending = [node]
    while pending:
        pending += children(item := pending.pop())
        yield item


def walk_all(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield nodes and all their parts."""
    for node in nodes:
        yield from walk(node)


def read_attributes(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names of those nodes that are attributes, of whatever they are."""
    return {item.attr for item in nodes if isinstance(item, ast.Attribute)}


def all_names(node: ast.AST) -> set[str]:
    """Return the names in a node, whether they are loaded or bound."""
    return {item.id for item in walk(node) if isinstance(item, ast.Name)}


def bound_names(target: ast.AST) -> set[str]:
    """Return the names that a target, a comprehension's generators or a lambda's arguments bind."""
    found: set[str] = set()
    for node in walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return found


def inner_bindings(node: ast.AST) -> set[str]:
    """Return the names that an expression or a definition binds for its own parts."""
    if isinstance(node, Comprehension):
        return {name for item in node.generators for name in bound_names(item.target)}
    if isinstance(node, ast.Lambda):
        return bound_names(node.args)
    if isinstance(node, Function):
        rebound = {
            name
            for item in walk(node)
            if isinstance(item, (ast.Global, ast.Nonlocal))
            for name in item.names
        }
        return bound_names(node) - rebound
    return set()


def free_names(node: ast.AST, bound: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the names that a node loads or rebinds from outside of it."""
    if isinstance(node, ast.Name):
        if node.id not in bound and isinstance(node.ctx, ast.Load):
            yield node.id
        return
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from node.names
    if isinstance(node, _BINDING):
        bound = bound | inner_bindings(node)
    for child in children(node):
        yield from free_names(child, bound)


def get_dotted_name(node: ast.AST) -> str:
    """Return `a.b.c` for such an expression, '' for others."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = get_dotted_name(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def read_module_names(nodes: Iterable[ast.AST], imported: Mapping[str, str]) -> set[str]:
    """Return the names of a module that single nodes are: members by their names."""
    names = {get_dotted_name(node) for node in nodes if isinstance(node, (ast.Name, ast.Attribute))}
    parts = [name.split(".") for name in names if "." in name]
    found = {imported[name] for name in names if imported.get(name)}
    return found | {part[1] for part in parts if imported.get(part[0]) == ""}
