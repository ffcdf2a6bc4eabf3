"""The public names of a module and its methods, each of which an isolated test must use."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from greenloop.grading.context import GradingContext
from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite.module_calls import get_member, read_imports
from greenloop.testsuite.scenarios.names import read_attributes, walk, walk_all

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_Definition = (*_Function, ast.ClassDef)


class ModuleNames:
    """The names of a module and what its tests use of it; each text is parsed once."""

    def __init__(self, code: str, tests: Sequence[str], module: str, interface: str = "") -> None:
        """`interface` is that of a contract, as stub source, '' where there is none."""
        self._body = _parse(code).body
        self._tests, self._module = [_parse(text) for text in tests], module
        self._interface = _parse(interface).body
        self._classes = [node for node in self._body if isinstance(node, ast.ClassDef)]
        self._protocols = set(_find_protocols(self._classes))

    def find_public(self) -> tuple[str, ...]:
        """Return the names that a contract's interface defines, in order.

        Without an interface: those in the module's `__all__`, which takes nothing away, then those
        that the tests use. Protocols are left out, as they have no code to observe.
        """
        used = {name for tree in self._tests for name in _find_used_names(tree, self._module)}
        defined = _read_definitions(self._interface) or [*_read_all(self._body), *sorted(used)]
        return tuple(dict.fromkeys(name for name in defined if name not in self._protocols))

    @cached_property
    def methods(self) -> dict[str, str]:
        """The public methods that the tests name, as `Class.method`, each with its own name."""
        used = read_attributes(walk_all(self._tests))
        return {
            f"{node.name}.{item.name}": item.name
            for node in self._classes
            if node.name not in self._protocols
            for item in node.body
            if isinstance(item, _Function) and item.name in used and item.name[:1] != "_"
        }

    def add_base_classes(self, names: set[str]) -> set[str]:
        """Return the names with the module's own base classes of the classes among them.

        An exception is observed with its bases, and an object answers by the methods that it
        inherits.
        """
        bases = {
            node.name: {item.id for item in node.bases if isinstance(item, ast.Name)}
            for node in self._classes
        }
        found, added = set(names), set(names)
        while added:
            added = {base for name in added for base in bases.get(name, ())} - found
            found |= added
        return found

    def add_called(self, names: set[str]) -> set[str]:
        """Return the names with all that functions of the module by these names use, and so on.

        Special methods are called without their name.
        """
        pending = [node for node in walk_all(self._body) if isinstance(node, _Function)]
        found = names | {item.name for item in pending if item.name.startswith("__")}
        while reached := [item for item in pending if item.name in found]:
            pending = [item for item in pending if item.name not in found]
            nodes = list(walk_all(reached))
            found |= read_attributes(nodes) | {n.id for n in nodes if isinstance(n, ast.Name)}
        return found


def read_module_names(context: GradingContext) -> ModuleNames:
    """Return the names of a grade's module; pieces of evidence share them by `context.remember`."""
    texts = [item.code for item in context.tests]
    return ModuleNames(context.code, texts, context.module, context.interface)


def _parse(text: str) -> ast.Module:
    return parse_or_none(text) or ast.Module([], [])


def _find_protocols(classes: Iterable[ast.ClassDef]) -> Iterator[str]:
    """Yield the names of protocols all of whose methods are empty."""
    for node in classes:
        bases = [ast.unparse(item).partition("[")[0] for item in node.bases]
        is_protocol = "Protocol" in bases or "typing.Protocol" in bases
        if is_protocol and all(map(_is_declaration, node.body)):
            yield node.name


def _is_declaration(node: ast.stmt) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return not node.decorator_list and all(map(_is_declaration, node.body))
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant or isinstance(node, (ast.Pass, ast.AnnAssign))


def _read_definitions(interface: Iterable[ast.stmt]) -> list[str]:
    names = [node.name for node in interface if isinstance(node, _Definition)]
    return [name for name in names if not name.startswith("_")]


def _read_all(body: Iterable[ast.stmt]) -> list[str]:
    """Return the names in `__all__` where it is one literal, else none."""
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            with contextlib.suppress(ValueError, TypeError):
                return [item for item in ast.literal_eval(node.value) if isinstance(item, str)]
    return []


def _find_used_names(tests: ast.Module, module: str) -> Iterator[str]:
    """Yield the names of the module that a test file imports, or reads as its attributes."""
    names = read_imports(tests, module)
    yield from (name for name in names.values() if name[:1] not in "_*")
    for node in walk(tests):
        if isinstance(node, ast.Attribute) and (name := get_member(node, names))[:1] not in "_":
            yield name
