"""Monkeypatching: code that replaces parts of the standard library or the class of an object."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

# Modules whose attributes are meant to be set.
_SETTABLE_MODULES = frozenset(
    {"sys", "os", "logging", "locale", "readline", "threading", "mimetypes"}
)
_SETTABLE_ATTRIBUTES = frozenset({"showwarning", "formatwarning", "debug"})
_PROTECTED_NAMESPACES = frozenset({"sys", "os", "builtins", "gc"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def find_monkeypatches(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, description) of each finding."""
    modules = dict(_find_imported_modules(tree))
    for node in ast.walk(tree):
        for target in _get_assignment_targets(node):
            yield from _check_target(target, modules)
        if isinstance(node, ast.ClassDef):
            yield from _check_class(node)
        elif isinstance(node, ast.Call):
            yield from _check_call(node, modules)
        elif isinstance(node, ast.Attribute) and node.attr == "__dict__":
            yield from _check_namespace_access(node.value, modules)


def _find_imported_modules(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the aliases of standard library modules with their names."""
    for node in ast.walk(tree):
        for item in node.names if isinstance(node, ast.Import) else ():
            name = item.name if item.asname else item.name.partition(".")[0]
            if name.partition(".")[0] in sys.stdlib_module_names:
                yield item.asname or name, name


def _get_assignment_targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, (ast.Assign, ast.Delete)):
        return node.targets
    return [node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign)) else []


def _check_target(target: ast.expr, modules: dict[str, str]) -> Iterator[tuple[int, str]]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            yield from _check_target(item, modules)
    elif isinstance(target, ast.Attribute) and target.attr not in _SETTABLE_ATTRIBUTES:
        owner, _, rest = ast.unparse(target).partition(".")
        name = modules.get(owner, "")
        if name and name not in _SETTABLE_MODULES:
            yield target.lineno, f"replaces `{name}.{rest}` for the whole process, tests included"


def _check_class(node: ast.ClassDef) -> Iterator[tuple[int, str]]:
    for item in node.body:
        names = [part.id for part in _get_assignment_targets(item) if isinstance(part, ast.Name)]
        if isinstance(item, _FUNCTIONS):
            names = [item.name]
        if "__class__" in names:
            yield item.lineno, "`__class__` pretends that an object has another class"


def _check_call(node: ast.Call, modules: dict[str, str]) -> Iterator[tuple[int, str]]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    owner = node.args[0] if node.args else None
    if name == "vars" and owner is not None:
        yield from _check_namespace_access(owner, modules)
    elif name == "setattr" and isinstance(owner, (ast.Name, ast.Attribute)):
        first, _, rest = ast.unparse(owner).partition(".")
        module = modules.get(first, "")
        if module and module not in _SETTABLE_MODULES:
            what = f"{module}.{rest}".rstrip(".")
            yield node.lineno, f"replaces parts of `{what}` for the whole process, tests included"


def _check_namespace_access(owner: ast.expr, modules: dict[str, str]) -> Iterator[tuple[int, str]]:
    module = modules.get(owner.id, "") if isinstance(owner, ast.Name) else ""
    if module in _PROTECTED_NAMESPACES:
        yield owner.lineno, f"takes from `{module}` names that cannot be analysed"
