"""Rows of a test: its parameters and fixtures as assignments."""

import ast
from collections.abc import Iterator
from typing import Any

from greenloop.syntax.nodes import Function, copy_tree
from greenloop.testsuite.parser import Classes
from greenloop.testsuite.programs.literals import read_value
from greenloop.testsuite.programs.records import RefusedError
from greenloop.testsuite.programs.source import TestSource

RUNNER_FIXTURES = ("tmp_path", "monkeypatch", "capsys", "doctest_namespace")
MADE = "made__"  # prefix of the name of a fixture's function
_CONDITIONAL = frozenset({"skip", "skipif", "xfail"})
_MAX_ROWS = 300
Row = dict[str, ast.expr]


def assign(name: str, value: ast.expr, place: ast.AST) -> ast.stmt:
    made = ast.Assign([ast.Name(name, ast.Store())], value)
    return ast.fix_missing_locations(ast.copy_location(made, place))


def call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


class RowReader:
    """Reader of the decorators and fixtures of tests."""

    def __init__(self, source: TestSource) -> None:
        self._source = source
        self.definitions: dict[str, ast.stmt] = {}  # of fixtures, by their names in programs
        self.teardown: list[ast.stmt] = []

    def read_rows(self, test: Function, classes: Classes) -> tuple[list[Row], list[str]]:
        """Return the rows in the marks of a test, and the fixtures that the marks ask for.

        Raises RefusedError: a decorator has another effect, or the rows are computed or too many.
        """
        rows: list[Row] = [{}]
        fixtures: list[str] = []
        marks = [*test.decorator_list, *(i for node in classes for i in node.decorator_list)]
        for mark in marks:
            function = mark.func if isinstance(mark, ast.Call) else mark
            path = self._source.get_path(function)
            if path.endswith("mark.parametrize") and isinstance(mark, ast.Call):
                table = list(self._read_table(mark))
                rows = [{**new, **row} for new in table for row in rows]
            elif path.endswith("mark.usefixtures") and isinstance(mark, ast.Call):
                fixtures += [str(read_value(item)[0]) for item in mark.args]
            elif path.rpartition(".")[2] in _CONDITIONAL or ".mark." not in f".{path}":
                raise RefusedError(f"a decorator ({path or 'computed'})", mark)
        for name in self._list_fixtures(test, fixtures):
            if cells := self._read_parameters(self._source.fixtures[name]):
                rows = [{f"param__{name}": item, **row} for item in cells for row in rows]
        if len(rows) > _MAX_ROWS:
            raise RefusedError("a long table", test)
        return rows, fixtures

    def _list_fixtures(self, test: Function, asked: list[str]) -> list[str]:
        """Return the fixtures of the file that a test uses, directly or through others."""
        pending = [*asked, *(item.arg for item in test.args.args)]
        found: list[str] = []
        while pending:
            name = pending.pop()
            if name in self._source.fixtures and name not in found:
                found.append(name)
                pending += [item.arg for item in self._source.fixtures[name].args.args]
        return found

    def _read_parameters(self, fixture: Function) -> list[ast.expr]:
        mark: Any = self._source.find_fixture_mark(fixture)
        given = {item.arg: item.value for item in getattr(mark, "keywords", ())}
        if "params" not in given:
            return []
        return [self._read_cells(item, 1)[0] for item in self.list_items(given["params"])]

    def _read_table(self, mark: ast.Call) -> Iterator[Row]:
        given = dict(zip(("argnames", "argvalues"), mark.args, strict=False))
        given |= {str(item.arg): item.value for item in mark.keywords}
        table = given.get("argvalues")
        known = read_value(given["argnames"]) if "argnames" in given else ()
        if table is None or not known or "indirect" in given:
            raise RefusedError("a table of fixtures", mark)
        names = known[0]
        if isinstance(names, str):
            names = [item.strip() for item in names.split(",") if item.strip()]
        for item in self.list_items(table):
            yield dict(zip(names, self._read_cells(item, len(names)), strict=True))

    def _read_cells(self, item: ast.expr, count: int) -> list[ast.expr]:
        cells = [item]
        if isinstance(item, ast.Call) and self._source.get_path(item.func).endswith("pytest.param"):
            if any(keyword.arg == "marks" for keyword in item.keywords):
                raise RefusedError("a row with marks", item)
            cells = item.args
        elif count > 1:
            item = self._look_up(item)
            cells = item.elts if isinstance(item, (ast.Tuple, ast.List)) else []
        if len(cells) != count:
            raise RefusedError("a computed row", item)
        return cells

    def _look_up(self, node: ast.expr) -> ast.expr:
        known = self._source.constants.get(node.id) if isinstance(node, ast.Name) else None
        return node if known is None else known

    def list_items(self, table: ast.expr, known: Row | None = None) -> list[ast.expr]:
        """Return the items of a table that is written out. Raises RefusedError for others."""
        if isinstance(table, ast.Name) and known and table.id in known:
            table = known[table.id]
        table = self._look_up(table)
        if isinstance(table, (ast.List, ast.Tuple)) and not _has_stars(table):
            return table.elts
        if isinstance(table, ast.Call):
            return self._list_called(table, known)
        if (found := read_value(table)) and isinstance(found[0], (str, bytes)):
            return [ast.copy_location(ast.Constant(item), table) for item in found[0]]
        raise RefusedError("a loop over computed values", table)

    def _list_called(self, table: ast.Call, known: Row | None) -> list[ast.expr]:
        name = self._source.get_path(table.func)
        if name == "range" and (found := read_value(table)) and len(found[0]) <= _MAX_ROWS:
            return [ast.copy_location(ast.Constant(item), table) for item in found[0]]
        if name in ("list", "tuple") and len(table.args) == 1:
            return self.list_items(table.args[0], known)
        if name in ("zip", "enumerate") and not table.keywords:
            lists = [self.list_items(item, known) for item in table.args]
            if name == "enumerate":
                lists = [[ast.Constant(at) for at in range(len(lists[0]))], *lists[:1]]
            pairs: Any = zip(*lists, strict=False)
            return [ast.copy_location(ast.Tuple(list(i), ast.Load()), table) for i in pairs]
        if isinstance(table.func, ast.Attribute) and table.func.attr == "items":
            owner = table.func.value
            owner = known.get(owner.id, owner) if known and isinstance(owner, ast.Name) else owner
            node = self._look_up(owner)
            if isinstance(node, ast.Dict) and all(node.keys):
                both: Any = zip(node.keys, node.values, strict=True)
                return [ast.copy_location(ast.Tuple([*i], ast.Load()), table) for i in both]
        raise RefusedError("a loop over computed values", table)

    # -- fixtures

    def write_fixtures(
        self, test: Function, classes: Classes, row: Row, asked: list[str], runner: list[str]
    ) -> list[ast.stmt]:
        """Return the assignments of a test's fixtures; add names of the runner's own to `runner`.

        Raises RefusedError: a fixture cannot be written out.
        """
        own = {
            item.name: item
            for node in classes
            for item in node.body
            if isinstance(item, Function) and self._source.find_fixture_mark(item)
        }
        known = {**self._source.fixtures, **own}
        automatic = [name for name, node in known.items() if self._is_automatic(node)]
        parameters = [item.arg for item in (*test.args.args, *test.args.kwonlyargs)]
        names = [*automatic, *asked, *parameters]
        found: list[ast.stmt] = []
        done = {"self", *row}
        for name in names:
            self._write(name, known, done, found, runner, test)
        return found

    def _is_automatic(self, node: Function) -> bool:
        mark = self._source.find_fixture_mark(node)
        keywords = mark.keywords if isinstance(mark, ast.Call) else []
        given = (item.value for item in keywords if item.arg == "autouse")
        return any(getattr(value, "value", True) for value in given)

    def _write(
        self,
        name: str,
        known: dict[str, Function],
        done: set[str],
        found: list[ast.stmt],
        runner: list[str],
        test: Function,
    ) -> None:
        if name in done:
            return
        done.add(name)
        if name in RUNNER_FIXTURES and name not in known:
            runner.append(name)
            return
        node = known.get(name)
        if node is None:
            raise RefusedError(f"the fixture {name}", test)
        arguments = [item.arg for item in (*node.args.args, *node.args.kwonlyargs)]
        arguments = [f"param__{name}" if item == "request" else item for item in arguments]
        for other in arguments:
            self._write(other, known, done, found, runner, test)
        found += self._call_fixture(name, node, arguments, test)

    def _call_fixture(
        self, name: str, node: Function, arguments: list[str], test: Function
    ) -> Iterator[ast.stmt]:
        mark: Any = self._source.find_fixture_mark(node)
        is_plain = not isinstance(mark, ast.Call) or not any(
            item.arg == "name" for item in mark.keywords
        )
        body: Any
        inner = ast.Module(node.body, [])
        if isinstance(node, ast.AsyncFunctionDef) or not is_plain or len(node.decorator_list) > 1:
            raise RefusedError(f"the fixture {name}", test)
        if self._source.is_of_framework(inner):
            raise RefusedError(f"the fixture {name} uses the framework", test)
        function = _read_parameter(node, f"param__{name}")
        body = function.body[1:] if ast.get_docstring(function) else function.body
        given = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
        if isinstance(given, ast.Name) and given.id == f"param__{name}":
            yield assign(name, given, test)
            return
        if given is not None and read_value(given):
            yield assign(name, copy_tree(given), test)
            return
        renamed = f"{MADE}{name}"
        function.name, function.decorator_list = renamed, []
        self.definitions[renamed] = function
        made: ast.expr = call(renamed, *(ast.Name(item, ast.Load()) for item in arguments))
        if any(isinstance(item, (ast.Yield, ast.YieldFrom)) for item in ast.walk(inner)):
            yield assign(f"{renamed}_", made, test)
            made = call("next", ast.Name(f"{renamed}_", ast.Load()))
            after = call("next", ast.Name(f"{renamed}_", ast.Load()), ast.Constant(None))
            self.teardown.insert(0, ast.fix_missing_locations(ast.Expr(after, lineno=1)))
        yield assign(name, made, test)


def _read_parameter(node: Function, name: str) -> Any:
    """Return a copy of a fixture that takes a parameter in place of `request.param`."""

    class Reader(ast.NodeTransformer):
        def visit_Attribute(self, item: ast.Attribute) -> ast.AST:
            if ast.unparse(item) == "request.param":
                return ast.copy_location(ast.Name(name, ast.Load()), item)
            return self.generic_visit(item)

        def visit_arg(self, item: ast.arg) -> ast.arg:
            return ast.arg(name) if item.arg == "request" else item

    return ast.fix_missing_locations(Reader().visit(copy_tree(node)))


def _has_stars(node: ast.List | ast.Tuple) -> bool:
    return any(isinstance(item, ast.Starred) for item in node.elts)
