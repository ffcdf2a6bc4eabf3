"""Description of an exercise's stub for the specification.

It lists names and parameters in words: the tests may call a function differently than its stub
declares it, and Python code in a specification is binding. A stub with code or constants is
included as it is, because a list of names would lose them.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from greenloop.syntax.nodes import Function, bound_names
from greenloop.syntax.parse import parse_or_empty


def describe_stub(stub: str, imported: Collection[str], module: str) -> Iterator[str]:
    """Yield the lines; `imported` are the names that the tests import from the module."""
    tree = parse_or_empty(stub)
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    bound = bound_names((*tree.body, *names))
    rest = [name for name in imported if name not in bound]
    if any(map(_has_code, tree.body)):
        yield f"The module is `{module}`. It begins as this file, whose names have to stay:"
        yield from ("", "```python", stub.strip(), "```", "")
        yield from (f"The tests import `{name}` besides." for name in rest)
    elif offered := [*_describe_definitions(tree), *(f"`{name}`" for name in rest)]:
        yield f"The module is `{module}`, and it offers (parameters may have defaults):"
        yield ""
        yield from (f"- {line}" for line in offered)
        yield ""


def _has_code(node: ast.stmt) -> bool:
    if isinstance(node, Function):
        return not all(map(_is_placeholder, node.body))
    if isinstance(node, ast.ClassDef):
        return any(map(_has_code, node.body))
    return not (_is_placeholder(node) or isinstance(node, (ast.Import, ast.ImportFrom)))


def _is_placeholder(node: ast.stmt) -> bool:
    """Return whether a statement is `pass`, a docstring or `...`."""
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return text or isinstance(node, ast.Pass)


def _describe_definitions(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, Function):
            yield f"the function `{node.name}`{_describe_parameters(node)}"
        elif isinstance(node, ast.ClassDef):
            methods = [item for item in node.body if isinstance(item, Function)]
            listed = ", ".join(
                f"{_decorator_prefix(item)}`{item.name}`{_describe_parameters(item)}"
                for item in methods
            )
            bases = ", ".join(f"`{ast.unparse(item)}`" for item in node.bases)
            above = f", derived from {bases}," if bases else ""
            yield f"the class `{node.name}`{above}" + (f" with {listed}" if listed else "")


def _decorator_prefix(node: Function) -> str:
    """Return the decorators with a simple name, such as `property`."""
    names = [ast.unparse(item) for item in node.decorator_list]
    return "".join(f"{name} " for name in names if name.isidentifier())


def _describe_parameters(node: Function) -> str:
    args = node.args
    names = [item.arg for item in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    names = [name for name in names if name not in ("self", "cls")]
    if not names and "property" in map(ast.unparse, node.decorator_list):
        return ""
    return f" (parameters: {', '.join(names)})" if names else " (no parameters)"


def find_imported_names(codes: Iterable[str], module: str) -> tuple[str, ...]:
    """Return the names that these files import from the module, without duplicates."""
    nodes = (node for code in codes for node in ast.walk(parse_or_empty(code)))
    from_it = [n for n in nodes if isinstance(n, ast.ImportFrom) and n.module == module]
    names = (item.name for node in from_it for item in node.names if item.name != "*")
    return tuple(dict.fromkeys(names))
