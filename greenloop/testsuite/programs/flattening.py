"""Flattening of tests to lists of statements: asserting loops and helpers are written out."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from greenloop.syntax.names import iter_assigned
from greenloop.syntax.nodes import Function, Import, copy_tree, is_constant_statement
from greenloop.testsuite.parser import Classes, name_test
from greenloop.testsuite.programs.binding import bind_arguments, split_assignment, unpack
from greenloop.testsuite.programs.lineage import Lineage
from greenloop.testsuite.programs.records import RefusedError
from greenloop.testsuite.programs.rows import Row, RowReader, assign
from greenloop.testsuite.programs.source import TestSource, walk_names

_MAX_STATEMENTS, _MAX_DEPTH = 1500, 6


@dataclass(frozen=True)
class FlatTest:
    """One row of a test: its statements, the runner's fixtures, and definitions of its own.

    `attributes` are those of `self`, its methods as nodes; None outside of classes.
    """

    test: str
    line: int
    statements: Sequence[ast.stmt]
    fixtures: tuple[str, ...]
    is_async: bool
    definitions: Mapping[str, ast.stmt]
    teardown: Sequence[ast.stmt] = ()
    attributes: Mapping[str, ast.AST | None] | None = None


class Renamer(ast.NodeTransformer):
    """Transformer that renames variables."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self._names.get(node.id, node.id), node.ctx), node)


class Flattener:
    """Flattener of one test."""

    def __init__(self, source: TestSource, test: Function, classes: Classes) -> None:
        self._source, self._test, self._classes = source, test, classes
        self._reader = RowReader(source)
        self._count, self._size = 0, 0
        self._known: Row = {}
        self._dropped: set[str] = set()  # functions of the test whose calls are written out
        self._helpers = {k: v for k, v in source.definitions.items() if isinstance(v, Function)}

    def flatten_rows(self) -> Iterator[FlatTest]:
        """Yield each row of the test. Raises RefusedError."""
        if self._source.has_setup:
            raise RefusedError("a setup function of the module", self._test)
        rows, asked = self._reader.read_rows(self._test, self._classes)
        self._lineage = Lineage(self._source, self._test, self._classes)
        for row in rows:
            yield self._flatten(row, asked)

    def _flatten(self, row: Row, asked: list[str]) -> FlatTest:
        runner: list[str] = []
        self._reader.teardown = []
        test, classes = self._test, self._classes
        head = [assign(name, copy_tree(value), test) for name, value in row.items()]
        around, setup = self._lineage.classes, self._lineage.setup
        fixtures = self._reader.write_fixtures(test, around, row, asked, runner)
        self._known = dict(row)
        body = list(self._walk(test.body, 0))
        if not self._dropped.isdisjoint(walk_names(*body)):
            raise RefusedError("a function that asserts", test)
        return FlatTest(
            name_test(test, classes),
            test.lineno,
            [*head, *setup[:1], *fixtures, *setup[1:], *body],
            tuple(runner),
            isinstance(test, ast.AsyncFunctionDef) or any(map(_is_awaited, setup)),
            {**self._lineage.copies, **self._reader.definitions},
            self._reader.teardown,
            self._lineage.attributes if classes else None,
        )

    def _walk(self, body: Sequence[ast.stmt], depth: int) -> Iterator[ast.stmt]:
        for node in body:
            self._size += 1
            if self._size > _MAX_STATEMENTS or depth > _MAX_DEPTH:
                raise RefusedError("too many statements", node)
            if isinstance(node, ast.Pass) or is_constant_statement(node):
                continue
            if isinstance(node, ast.For) and self._is_checking(node):
                yield from self._write_loop(node, depth)
            elif isinstance(node, ast.With) and self._is_subtest(node):
                yield from self._walk(node.body, depth + 1)
            elif isinstance(node, ast.With):
                inner = list(self._walk(node.body, depth + 1))
                block = ast.With(node.items, inner or [ast.Pass()])
                yield ast.fix_missing_locations(ast.copy_location(block, node))
            elif isinstance(node, Function) and self._is_checking(node):
                self._helpers[node.name] = node
                self._dropped.add(node.name)
            elif (helper := self._find_helper(node)) is not None:
                yield from self._write_helper(helper, node, depth)
            else:
                if isinstance(node, Import):
                    self._source.read_import(node)
                for made in split_assignment(node, self._known):
                    self._note(made)
                    yield made

    def _note(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            self._known[node.targets[0].id] = node.value

    def _is_subtest(self, node: ast.With) -> bool:
        call_ = node.items[0].context_expr
        name = ast.unparse(call_.func) if isinstance(call_, ast.Call) else ""
        return name in ("self.subTest", "subtests.test")

    def _is_checking(self, node: ast.AST) -> bool:
        """Whether something is asserted in a node, or in a helper that it calls."""
        for item in ast.walk(node):
            if isinstance(item, ast.Assert) or _is_assertion_call(item):
                return True
            if isinstance(item, ast.With) and self._source.is_of_framework(item.items[0]):
                return True
            helper = self._get_called(item)
            if helper is not None and helper is not node and self._is_checking(helper):
                return True
        return False

    def _get_called(self, node: ast.AST) -> Function | None:
        if not isinstance(node, ast.Call):
            return None
        if isinstance(node.func, ast.Name):
            return self._helpers.get(node.func.id)
        if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "self":
            methods = (
                i
                for c in reversed(self._lineage.classes)
                for i in c.body
                if isinstance(i, Function)
            )
            return next((item for item in methods if item.name == node.func.attr), None)
        return None

    def _write_loop(self, node: ast.For, depth: int) -> Iterator[ast.stmt]:
        """Yield the body of a loop for each item of its table."""
        targets = [node.target] if isinstance(node.target, ast.Name) else None
        if targets is None:
            targets = getattr(node.target, "elts", [])
        if node.orelse or any(isinstance(i, (ast.Break, ast.Continue)) for i in ast.walk(node)):
            raise RefusedError("a loop with break, continue or else", node)
        for item in self._reader.list_items(node.iter, self._known):
            yield from self._write_round(node, item, targets, depth)

    def _write_round(
        self, node: ast.For, item: ast.expr, targets: Sequence[ast.expr], depth: int
    ) -> Iterator[ast.stmt]:
        pairs = [*unpack(node.target, item)]
        if not pairs:
            raise RefusedError("a loop over computed values", node)
        renamed = {name: self._name(name) for name, _ in pairs}
        for name, value in pairs:
            made = assign(renamed[name], copy_tree(value), item)
            self._note(made)
            yield made
        body = [Renamer(renamed).visit(copy_tree(statement)) for statement in node.body]
        yield from self._walk(body, depth + 1)

    def _name(self, name: str) -> str:
        self._count += 1
        return f"{name}_{self._count}"

    def _find_helper(self, node: ast.stmt) -> Function | None:
        """Return the helper that a statement calls, if it asserts."""
        value = node.value if isinstance(node, ast.Expr) else None
        value = value.value if isinstance(value, ast.Await) else value
        helper = self._get_called(value) if value is not None else None
        return helper if helper is not None and self._is_checking(helper) else None

    def _write_helper(self, helper: Function, node: Any, depth: int) -> Iterator[ast.stmt]:
        """Yield the body of a helper with its arguments as assignments."""
        called: Any = node.value.value if isinstance(node.value, ast.Await) else node.value
        body = helper.body
        if any(
            isinstance(i, (ast.Return, ast.Yield, ast.Global, ast.Nonlocal))
            for i in ast.walk(helper)
        ):
            raise RefusedError("a helper that asserts and returns", node)
        values = bind_arguments(helper, called)
        renamed = {
            name: self._name(name) for name in (*values, *dict.fromkeys(iter_assigned(*body)))
        }
        for name, value in values.items():
            made = assign(renamed[name], copy_tree(value), node)
            self._note(made)
            yield made
        yield from self._walk([Renamer(renamed).visit(copy_tree(i)) for i in body], depth + 1)


def _is_awaited(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Await)


def _is_assertion_call(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr.startswith("assert")
    )
