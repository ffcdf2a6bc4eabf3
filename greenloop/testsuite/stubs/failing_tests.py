"""Tests whose text shows that they fail on a stub, so that no run has to show it.

Where a form may hide something else (a fixture, a mark, a branch, a package, a name that nothing
defines), only a run tells.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from greenloop.syntax.nodes import Import, bound_names
from greenloop.syntax.parse import parse_or_none, read_literal
from greenloop.testsuite.scenarios.names import get_dotted_name
from greenloop.testsuite.stubs.certain_failure import StubNames, fails_for_certain
from greenloop.testsuite.suite import TestFile

# What may end a test in another way than by failing, or replace a function of the stub.
_OTHER_EFFECTS = re.compile(
    r"skip|xfail|exit|signal|patch|mock|setattr|__dict__"
    r"|\b(abort|eval|exec|fork|globals|modules|vars)\b",
    re.IGNORECASE,
)
_HOOKS = ("__test__", "collect_ignore", "pytest_", "pytestmark", "setup", "teardown")
_Modules = Mapping[str, frozenset[str]]  # the names that each defines


class _Stub(NamedTuple):
    """What a stub defines: functions, which raise NotImplementedError, classes, and all names."""

    functions: frozenset[str]
    classes: frozenset[str]
    names: frozenset[str]


def find_failing_tests(stub: str, module: str, files: Sequence[TestFile]) -> tuple[str, ...]:
    """Return pytest's ids of all tests of the files if each fails on the stub for certain, else ().

    `module` is the name of the stub, whose functions raise NotImplementedError.
    """
    read, found = _read_stub(stub), list[str]()
    for file in files:
        names = _find_failing(file.code, module, read) if read else None
        if names is None:
            return ()
        found += (f"{file.name}::{name}" for name in names)
    return tuple(dict.fromkeys(found))


def _read_stub(stub: str) -> _Stub | None:
    """Return what a stub defines; None where its import may fail."""
    tree = parse_or_none(stub)
    if tree is None or not all(_is_plain(node, {}) for node in tree.body):
        return None
    functions = (node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    classes = (node.name for node in tree.body if isinstance(node, ast.ClassDef))
    return _Stub(frozenset(functions), frozenset(classes), frozenset(_names_in(tree.body)))


def _find_failing(code: str, module: str, stub: _Stub) -> list[str] | None:
    """Return the names of a file's tests if each fails for certain, else None."""
    tree = parse_or_none(code)
    if tree is None or _OTHER_EFFECTS.search(code) or not _defines_all_names(tree):
        return None
    modules = {module: stub.names, "pytest": frozenset({"approx", "raises"})}
    imports = [node for node in ast.walk(tree) if isinstance(node, Import)]
    if not all(_can_import(node, modules) for node in imports):
        return None
    if not all(_is_plain(node, modules) and _has_plain_annotations(node) for node in tree.body):
        return None
    if any(name.startswith(_HOOKS) for name in _names_in(tree.body)):
        return None
    tests = [node for node in tree.body if _may_hold_tests(node)]
    used = StubNames(*(_find_uses(tree, module, i) for i in (stub.functions, stub.classes)))
    failing = [
        node.name
        for node in tests
        if isinstance(node, ast.FunctionDef) and fails_for_certain(node, used)
    ]
    return failing if len(failing) == len(tests) else None


def _is_plain(node: ast.stmt, modules: _Modules) -> bool:
    """Return whether a statement of a module or class can be executed for certain."""
    if isinstance(node, ast.FunctionDef):
        defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        return not node.decorator_list and all(map(read_literal, defaults))
    if isinstance(node, ast.ClassDef):
        return _has_plain_head(node) and all(_is_plain(item, modules) for item in node.body)
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return node.value is None or bool(read_literal(node.value))
    if isinstance(node, Import):
        return _can_import(node, modules)
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def _has_plain_head(node: ast.ClassDef) -> bool:
    """Return whether a class has at most one base, a built-in exception, and nothing changes it."""
    bases = [getattr(builtins, get_dotted_name(item), None) for item in node.bases]
    are_plain = all(isinstance(i, type) and issubclass(i, BaseException) for i in bases)
    return are_plain and len(bases) < 2 and not (node.decorator_list or node.keywords)


def _has_plain_annotations(node: ast.stmt) -> bool:
    """Return whether the annotations that an import of the module evaluates are constants or names."""
    found: list[ast.expr | None] = []
    if isinstance(node, ast.FunctionDef):
        parts = [item for item in ast.walk(node.args) if isinstance(item, ast.arg)]
        found = [node.returns, *(item.annotation for item in parts)]
    elif isinstance(node, ast.AnnAssign):
        found = [node.annotation]
    return all(
        item is None or isinstance(item, ast.Constant) or hasattr(builtins, get_dotted_name(item))
        for item in found
    )


def _can_import(node: Import, modules: _Modules) -> bool:
    """Return whether an import succeeds for certain.

    Besides `modules` that is known of the library's modules that are loaded here.
    """
    if isinstance(node, ast.Import):
        return all(item.name in modules or _is_of_library(item.name) for item in node.names)
    if node.level or node.module is None:
        return False
    names = {item.name for item in node.names}
    if node.module in modules:
        return names <= modules[node.module]
    loaded = sys.modules.get(node.module)
    return _is_of_library(node.module) and all(hasattr(loaded, name) for name in names)


def _is_of_library(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names and name in sys.modules


def _may_hold_tests(node: ast.stmt) -> bool:
    """Return whether pytest may collect tests from a statement of a module."""
    return any(name.lower().startswith("test") for name in _names_in([node]))


def _names_in(body: Iterable[ast.stmt]) -> set[str]:
    """Return the names that the statements of a module bind in it."""
    closed = (ast.FunctionDef, ast.ClassDef)
    parts = ([node] if isinstance(node, closed) else ast.walk(node) for node in body)
    return bound_names(item for part in parts for item in part)


def _defines_all_names(tree: ast.Module) -> bool:
    """Return whether each name that a file uses is bound somewhere in it, or built in."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return used <= bound_names(ast.walk(tree)).union(dir(builtins))


def _find_uses(tree: ast.Module, module: str, defined: frozenset[str]) -> frozenset[str]:
    """Return the expressions of a file, as text, that are definitions of the stub for certain."""
    names, aliases, others = set[str](), set[str](), list[ast.AST]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == module:
            names |= {i.asname or i.name for i in node.names if i.name in defined}
        elif isinstance(node, ast.Import) and [item.name for item in node.names] == [module]:
            aliases.add(node.names[0].asname or module)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            return frozenset()  # it may replace one
        else:
            others.append(node)
    bound = bound_names(others)
    calls = {f"{alias}.{name}" for alias in aliases - bound for name in defined}
    return frozenset(calls | (names - bound))
