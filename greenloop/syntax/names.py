"""Names that a syntax tree binds and uses, and names that a run's module cannot have."""

import ast
import keyword
import sys
from collections.abc import Iterator

from greenloop.syntax.nodes import Function

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# Modules that pytest needs while it runs, and names that it treats specially.
_RESERVED_NAMES = frozenset(
    "pytest conftest test tests pluggy iniconfig packaging pygments exceptiongroup tomli py".split()
)


def get_dotted_name(node: ast.AST) -> str:
    """Return the dotted name of an expression like `a.b.c`, '' for others."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = get_dotted_name(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


def iter_assigned(*nodes: ast.AST) -> Iterator[str]:
    """Yield the names that nodes assign, once for each assignment."""
    for item in (item for node in nodes for item in ast.walk(node)):
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
            yield item.id


def find_stores(node: ast.AST) -> set[str]:
    """Return the names that a node assigns or has as arguments."""
    arguments = {item.arg for item in ast.walk(node) if isinstance(item, ast.arg)}
    return arguments.union(iter_assigned(node))


def free_names(node: ast.AST, bound: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the names that a node loads or rebinds from outside of it."""
    if isinstance(node, ast.Name):
        if node.id not in bound and isinstance(node.ctx, ast.Load):
            yield node.id
        return
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from node.names
    bound = bound | _find_inner(node)
    for child in ast.iter_child_nodes(node):
        yield from free_names(child, bound)


def _find_inner(node: ast.AST) -> set[str]:
    """Return the names that an expression or a definition binds for its own parts."""
    if isinstance(node, _COMPREHENSIONS):
        return {name for item in node.generators for name in find_stores(item.target)}
    if isinstance(node, ast.Lambda):
        return find_stores(node.args)
    if isinstance(node, Function):
        nodes = (item for item in ast.walk(node) if isinstance(item, (ast.Global, ast.Nonlocal)))
        return find_stores(node) - {name for item in nodes for name in item.names}
    return set()


def explain_invalid_module_name(name: str) -> str | None:
    """Return why a run's module cannot have a name; None where it can."""
    if not (name.isidentifier() and name.isascii()):
        return "use letters a to z, digits and underscores, and a letter first"
    if keyword.iskeyword(name):
        return "it is a Python keyword"
    if name in sys.stdlib_module_names:
        return "it is a module of the standard library"
    if name in _RESERVED_NAMES or name.startswith(("_", "test_")):
        return "it is reserved"
    return None


def find_types(tree: ast.AST) -> frozenset[str]:
    """Return the names that annotations use, such as type aliases."""
    names = (item for node in list_annotations(tree) for item in ast.walk(node))
    return frozenset(item.id for item in names if isinstance(item, ast.Name))


def list_annotations(tree: ast.AST) -> list[ast.expr]:
    """Return the annotations of parameters, results and variables."""
    names = ("annotation", "returns")
    found = (getattr(node, name, None) for node in ast.walk(tree) for name in names)
    return [node for node in found if node]
