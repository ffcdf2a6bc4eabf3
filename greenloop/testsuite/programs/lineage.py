"""Class of a test and its bases in the file, as `self` of a program needs them: without tests."""

import ast
from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any

from greenloop.syntax.nodes import Definition, Function, get_assigned_targets
from greenloop.testsuite.parser import Classes, is_test_class
from greenloop.testsuite.programs.records import RefusedError
from greenloop.testsuite.programs.rows import assign, call
from greenloop.testsuite.programs.source import TestSource

_SETUP = ("setup_class", "setUpClass", "setUp", "asyncSetUp", "setup_method")
_TEARDOWN = ("tearDown", "asyncTearDown", "teardown_method", "tearDownClass", "teardown_class")
_NOTHING = ast.Pass()


class Lineage:
    """Classes around a test, with the bases of the innermost before it, outermost first.

    Attributes:
        classes: These classes.
        copies: Copies of the class of `self`, and of its bases that are test classes, by name.
        setup: The statements that make `self` and set it up.
        attributes: Attributes of `self`: its methods, None for others.
    """

    def __init__(self, source: TestSource, test: Function, classes: Classes) -> None:
        """Raises RefusedError: the setup has arguments, or uses pytest."""
        self._source, self._test = source, test
        bases = self._list_bases(classes[-1], ()) if classes else ()
        self._own = [*reversed(dict.fromkeys(bases)), *classes[-1:]]
        self.classes: Classes = (*self._own[:-1], *classes)
        self.copies = self._copy_classes()
        self.attributes: dict[str, ast.AST | None] = {}
        for node in self._own:
            self.attributes |= dict.fromkeys(_list_assigned(node))
            self.attributes |= _list_methods(self.copies.get(node.name, node))
        self.setup = list(self._write_setup())

    def _list_bases(self, node: ast.ClassDef, seen: Classes) -> Iterator[ast.ClassDef]:
        """Yield the bases in the file in about the order in which Python looks them up."""
        for item in node.bases:
            base = self._source.classes.get(item.id) if isinstance(item, ast.Name) else None
            if base is not None and base not in seen:
                yield base
                yield from self._list_bases(base, (*seen, base))

    def _write_setup(self) -> Iterator[ast.stmt]:
        if not self._own:
            return
        yield assign("self", call(self._own[-1].name), self._test)
        for name in _SETUP:
            function: Any = self.attributes.get(name)
            if not isinstance(function, Function):
                continue
            if len(function.args.args) > 1:
                raise RefusedError("a setup with arguments", function)
            made: ast.expr = ast.Call(
                ast.Attribute(ast.Name("self", ast.Load()), name, ast.Load()), [], []
            )
            if isinstance(function, ast.AsyncFunctionDef):
                made = ast.Await(made)
            yield ast.fix_missing_locations(ast.copy_location(ast.Expr(made), function))

    def _copy_classes(self) -> dict[str, ast.ClassDef]:
        own = self._own[-1:]
        chosen = [item for item in self._own if item in own or is_test_class(item)]
        names = {item.name for item in chosen} | self._source.definitions.keys()
        return {item.name: self._copy(item, names) for item in chosen}

    def _copy(self, node: ast.ClassDef, known: set[str]) -> ast.ClassDef:
        made = copy(node)
        made.bases = [i for i in node.bases if isinstance(i, ast.Name) and i.id in known]
        made.decorator_list, made.keywords = [], []
        inherited = {name for base in self._list_bases(node, ()) for name in _list_methods(base)}
        missing = [name for name in _SETUP if name not in inherited]
        body = [_drop_calls(i, missing) for i in node.body if not self._is_of_test(i)]
        of_framework = [item for item in body if self._source.is_of_framework(item)]
        if of_framework and not _list_methods(made).keys().isdisjoint(_SETUP):
            raise RefusedError("a setup that uses pytest", self._test)
        made.body = [item for item in body if item not in of_framework] or [ast.Pass()]
        return made

    def _is_of_test(self, item: ast.stmt) -> bool:
        if not isinstance(item, Function):
            return False
        is_test = item.name.startswith("test") or item.name in _TEARDOWN
        is_checking = any(isinstance(i, ast.Assert) for i in ast.walk(item))
        return is_test or is_checking or self._source.find_fixture_mark(item) is not None


def _drop_calls(node: ast.stmt, missing: Iterable[str]) -> ast.stmt:
    """Return a method without `super().setUp()` where that is the method of `unittest`."""
    if not isinstance(node, Function):
        return node
    calls = tuple(f"super().{name}()" for name in missing)
    made: Any = copy(node)
    made.body = [i for i in node.body if not ast.unparse(i).endswith(calls)] or [ast.Pass()]
    return made  # type: ignore[no-any-return]


def _list_methods(node: ast.ClassDef) -> dict[str, ast.AST | None]:
    return {item.name: item for item in node.body if isinstance(item, Definition)}


def _list_assigned(node: ast.ClassDef) -> Iterator[str]:
    """Yield names that a class assigns, or its methods to attributes of `self`."""
    for item in node.body:
        for target in get_assigned_targets(item):
            yield from (i.id for i in ast.walk(target) if isinstance(i, ast.Name))
    inner: Any
    for inner in ast.walk(node):
        is_assigned = isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store)
        if is_assigned and getattr(inner.value, "id", "") in ("self", "cls"):
            yield inner.attr
