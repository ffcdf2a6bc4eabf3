"""The public names of a module and its methods, each of which an isolated test must use."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Mapping, Sequence

from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite.module_calls import get_member, read_imports
from greenloop.testsuite.scenarios.names import children, read_attributes
from greenloop.testsuite.scenarios.reading.assertions import block_kind

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_Definition = (*_Function, ast.ClassDef)


def find_public_names(
    code: str, tests: Sequence[str], module: str, interface: str = ""
) -> tuple[str, ...]:
    """Return the names that a contract's interface defines, in order.

    Without an interface: those in the module's `__all__`, which takes nothing away, then those that
    the tests use. Protocols are left out, as they have no code to observe.
    """
    used = (name for text in tests for name in _find_used_names(text, module))
    defined = _read_definitions(interface) or [*_read_all(code), *sorted(used)]
    protocols = set(_find_protocols(code))
    return tuple(dict.fromkeys(name for name in defined if name not in protocols))


def find_methods(code: str, tests: Sequence[str]) -> dict[str, str]:
    """Return the public methods that the tests name, as `Class.method`, each with its own name."""
    tree = parse_or_none(code)
    protocols = set(_find_protocols(code))
    used = read_attributes(found for text in tests if (found := parse_or_none(text)))
    return {
        f"{node.name}.{item.name}": item.name
        for node in (tree.body if tree else ())
        if isinstance(node, ast.ClassDef) and node.name not in protocols
        for item in node.body
        if isinstance(item, _Function) and item.name in used and item.name[:1] != "_"
    }


def _find_protocols(code: str) -> Iterator[str]:
    """Yield the names of protocols all of whose methods are empty."""
    tree = parse_or_none(code)
    for node in tree.body if tree else []:
        bases = [ast.unparse(item).partition("[")[0] for item in getattr(node, "bases", [])]
        is_protocol = "Protocol" in bases or "typing.Protocol" in bases
        if isinstance(node, ast.ClassDef) and is_protocol and all(map(_is_declaration, node.body)):
            yield node.name


def _is_declaration(node: ast.stmt) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return not node.decorator_list and all(map(_is_declaration, node.body))
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant or isinstance(node, (ast.Pass, ast.AnnAssign))


def add_base_classes(names: set[str], code: str) -> set[str]:
    """Return the names with the module's own base classes of the classes among them.

    An exception is observed with its bases, and an object answers by the methods that it inherits.
    """
    tree = parse_or_none(code)
    bases = {
        node.name: {item.id for item in node.bases if isinstance(item, ast.Name)}
        for node in (tree.body if tree else ())
        if isinstance(node, ast.ClassDef)
    }
    found, added = set(names), set(names)
    while added:
        added = {base for name in added for base in bases.get(name, ())} - found
        found |= added
    return found


def add_called(names: set[str], code: str) -> set[str]:
    """Return the names with all that functions of the module by these names use, and so on.

    Special methods are called without their name.
    """
    tree = parse_or_none(code)
    functions = [node for node in ast.walk(tree) if isinstance(node, _Function)] if tree else []
    found = names | {item.name for item in functions if item.name.startswith("__")}
    pending = functions
    while reached := [item for item in pending if item.name in found]:
        pending = [item for item in pending if item.name not in found]
        found |= read_attributes(reached)
        found |= {n.id for item in reached for n in ast.walk(item) if isinstance(n, ast.Name)}
    return found


def find_value_uses(tests: str, module: str) -> dict[str, set[str]]:
    """Return by test the names of which it sees more than that an exception is raised.

    Names of the module's members are those that the module has, of other attributes their own.
    """
    tree = parse_or_none(tests)
    names = read_imports(tree, module) if tree else {}
    return {
        label: {_name_use(item, names) for item in _walk_values(node)} - {""}
        for label, node in _find_tests(tree.body if tree else ())
    }


def _find_tests(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        if isinstance(node, _Function) and node.name.startswith("test"):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}::{label}", item) for label, item in _find_tests(node.body))


def _walk_values(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and its parts, without those that only are to raise an exception."""
    is_block = isinstance(node, (ast.With, ast.AsyncWith))
    parts = [item.context_expr for item in node.items] if is_block else [node]  # type: ignore[attr-defined]
    if "raises" not in map(block_kind, parts):
        yield node
        for child in children(node):
            yield from _walk_values(child)


def _name_use(node: ast.AST, names: Mapping[str, str]) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return names.get(node.id, "") if isinstance(node, ast.Name) else ""


def _read_definitions(interface: str) -> list[str]:
    tree = parse_or_none(interface)
    nodes = tree.body if tree else []
    return [n.name for n in nodes if isinstance(n, _Definition) and not n.name.startswith("_")]


def _read_all(code: str) -> list[str]:
    """Return the names in `__all__` where it is one literal, else none."""
    tree = parse_or_none(code)
    for node in tree.body if tree else []:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            with contextlib.suppress(ValueError, TypeError):
                return [item for item in ast.literal_eval(node.value) if isinstance(item, str)]
    return []


def _find_used_names(tests: str, module: str) -> Iterator[str]:
    """Yield the names of the module that a test file imports, or reads as its attributes."""
    tree = parse_or_none(tests)
    names = read_imports(tree, module) if tree else {}
    yield from (name for name in names.values() if name[:1] not in "_*")
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Attribute) and (name := get_member(node, names))[:1] not in "_":
            yield name
