"""Programs of a test file, which observe asserted values; the expectations stay on the host."""

import ast
from collections.abc import Sequence
from typing import Any

from greenloop.records import NotObservable
from greenloop.records.evidence.answers import COMPARES_NOTHING
from greenloop.syntax.nodes import copy_tree
from greenloop.syntax.parse import parse_or_empty, parse_or_none
from greenloop.testsuite.parser import name_test
from greenloop.testsuite.programs.assertions import AssertionReader
from greenloop.testsuite.programs.flattening import Flattener
from greenloop.testsuite.programs.records import Program, ProgramFile, RefusedError
from greenloop.testsuite.programs.source import TestSource, walk_names

_RAISING = ("pytest.raises", "self.assertRaises", "self.assertRaisesRegex")


class ProgramWriter(AssertionReader):
    """Writer of one flat test as a program."""

    def write(self, number: int) -> Program:
        """Return the program. Raises RefusedError."""
        self._walk(self.flat.statements)
        if not self.expectations:
            raise RefusedError(COMPARES_NOTHING)
        body = drop_unread(self.body)
        if self.flat.teardown:
            body = [ast.Try(body, [], [], list(self.flat.teardown))]
        kind = ast.AsyncFunctionDef if self.flat.is_async else ast.FunctionDef
        arguments = ast.arguments(
            [], [ast.arg(item) for item in self.flat.fixtures], None, [], [], None, []
        )
        function: Any = kind(f"program_{number}", arguments, body, [])
        function.type_params = []
        return Program(
            self.flat.test,
            self.flat.line,
            ast.fix_missing_locations(function),
            self.flat.fixtures,
            tuple(self.expectations),
        )

    def _walk(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            if isinstance(node, ast.Assert):
                self.read_assertion(node.test)
            elif isinstance(node, (ast.With, ast.AsyncWith)):
                self._write_with(node)
            elif not (isinstance(node, ast.Expr) and self.read_call(node.value)):
                self.write_input(node)

    def _write_with(self, node: Any) -> None:
        item, *others = node.items
        if others:
            rest = ast.copy_location(type(node)(others, node.body), node)
            node = ast.copy_location(type(node)([item], [rest]), node)
        path = self.source.get_path(getattr(item.context_expr, "func", item.context_expr))
        if path in _RAISING:
            self.write_raising(node, item.context_expr, item.optional_vars)
            return
        self.check_input(item.context_expr)
        if item.optional_vars is not None and self.is_of_code(item.context_expr):
            self._of_code |= set(walk_names(item.optional_vars))
        outer, self.body = self.body, []
        self._walk(node.body)
        inner, self.body = self.body, outer
        made = type(node)([copy_tree(item)], inner or [ast.Pass()])
        self.body.append(ast.copy_location(made, node))


def drop_unread(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return a body without assignments that nothing reads: they hold expected values."""
    kept = list(body)
    while True:
        read = {
            item.id
            for node in kept
            for item in ast.walk(node)
            if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)
        }
        left = [node for node in kept if not _is_unread(node, read)]
        if len(left) == len(kept):
            return kept or [ast.Pass()]
        kept = left


def _is_unread(node: ast.stmt, read: set[str]) -> bool:
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    target = node.targets[0]
    is_pure = not any(
        isinstance(i, (ast.Call, ast.Await, ast.Attribute)) for i in ast.walk(node.value)
    )
    return isinstance(target, ast.Name) and target.id not in read and is_pure


class _FileName(ast.NodeTransformer):
    """Transformer that writes the path of a test file in place of `__file__`."""

    def __init__(self, path: str) -> None:
        self._path = path

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id != "__file__":
            return node
        return ast.copy_location(ast.Constant(self._path), node)


def build_programs(code: str, module: str, conftest: str = "", path: str = "") -> ProgramFile:
    """Return the programs of a test file, one for each row of a table.

    `path` takes the place of `__file__`.
    """
    tree = parse_or_none(code)
    if tree is None:
        return ProgramFile()
    shared = parse_or_empty(conftest)
    if path:
        _FileName(path).visit(tree)
        _FileName(path).visit(shared)
    source = TestSource(tree, shared, module)
    programs: list[Program] = []
    refused: list[NotObservable] = []
    definitions: dict[str, ast.stmt] = {}
    for test, classes in source.tests:
        try:
            flat = list(Flattener(source, test, classes).flatten_rows())
            numbered = enumerate(flat, len(programs))
            made = [ProgramWriter(item, source).write(number) for number, item in numbered]
        except (RefusedError, LookupError, RecursionError) as error:
            known = error if isinstance(error, RefusedError) else RefusedError("an unusual form")
            name, line = name_test(test, classes), known.line or test.lineno
            refused.append(NotObservable(test=name, line=line, reason=known.reason))
            continue
        programs += made
        for item in flat:
            definitions |= item.definitions
    bodies = [item.function for item in programs]
    preamble = source.render_preamble(bodies, definitions.values())
    return ProgramFile(preamble, tuple(programs), tuple(refused))
