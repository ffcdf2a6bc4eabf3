"""The plan of a test file: what each process runs."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite.scenarios.expressions import check_observable
from greenloop.testsuite.scenarios.flattening import FlatTest, Table, flatten, read_test_module
from greenloop.testsuite.scenarios.module_symbols import ClassSymbol, read_symbols
from greenloop.testsuite.scenarios.nodes import expression, name, tuple_of, unparse
from greenloop.testsuite.scenarios.records import (
    NotObservable,
    RefusedError,
    Scenario,
    ScenarioFile,
)
from greenloop.testsuite.scenarios.scope import (
    Function,
    Level,
    Scope,
    bound_names,
    dotted_name,
)
from greenloop.testsuite.scenarios.separation import check_separation
from greenloop.testsuite.scenarios.statements import (
    Halves,
    StatementSplitter,
    imports_of,
)
from greenloop.testsuite.scenarios.steps import Step, Uses, add_uses, keep_used
from greenloop.testsuite.scenarios.tables import bind_columns, judged_rows, project_table

_NOTHING = ScenarioFile("scenarios = []\n", "judges = []\n", (), ())


def build_scenarios(tests: str, module: str, code: str) -> ScenarioFile:
    """Return what can be observed of a test file, and what cannot.

    `module` is the name of the module under test, `code` its source, from which only the forms of
    its classes are read. Tests that cannot be parsed give an empty plan.
    """
    tree = parse_or_none(tests)
    if tree is None:
        return _NOTHING
    try:
        return _Planner(tree, module, code).plan()
    except RecursionError:
        return _NOTHING


@dataclass(frozen=True)
class _Planned:
    """One test in two parts, with what its scenario uses of the file."""

    scenario: Scenario
    function: ast.stmt
    entry: ast.expr
    judge: ast.stmt
    judge_entry: ast.expr
    uses: Uses


class _Planner:
    """The plan of one file; `scope` is that of its top level."""

    def __init__(self, tree: ast.Module, module: str, code: str) -> None:
        self._scope = Scope(module, read_symbols(code))
        self._imports = list(imports_of(tree))
        for node in self._imports:
            self._scope.import_names(node)
        _remove_imports(tree)
        self._file = read_test_module(tree)
        self._preamble = self._split_preamble()

    def plan(self) -> ScenarioFile:
        planned: list[_Planned] = []
        refused: list[NotObservable] = []
        for item in flatten(self._file):
            found = item if isinstance(item, NotObservable) else self._plan(item, len(planned))
            if isinstance(found, NotObservable):
                refused.append(found)
            else:
                planned.append(found)
        return ScenarioFile(
            self._scenario_text(planned),
            self._judge_text(planned),
            tuple(item.scenario for item in planned),
            tuple(refused),
        )

    # -- the top level

    def _split_preamble(self) -> Halves:
        """Split the top level statement by statement; names of those that cannot be are refused."""
        splitter, found = StatementSplitter(self._scope), Halves([], [])
        for node in self._file.preamble:
            names = bound_names(node) | {getattr(node, "name", "")}
            try:
                made = splitter.split([node])
            except RefusedError as error:
                self._scope.refused |= dict.fromkeys(names, error.reason)
                continue
            if all(step.defines is not None for step in made.steps):
                found.add(made)
            else:
                self._keep_as_it_is(node, names, found)
        return found

    def _keep_as_it_is(self, node: ast.stmt, names: set[str], found: Halves) -> None:
        """Keep a statement of the top level that uses the code, for the scenario alone."""
        try:
            check_observable(node, self._scope)
        except RefusedError as error:
            self._scope.refused |= dict.fromkeys(names, error.reason)
            return
        for item in sorted(names):
            self._scope.levels[item] = Level.DEPENDENT
        found.steps.append(Step(node, defines=frozenset(names)))

    # -- one test

    def _plan(self, test: FlatTest, number: int) -> _Planned | NotObservable:
        try:
            return self._split_test(test, number)
        except RefusedError as error:
            return NotObservable(test.name, error.line or test.line, error.reason)

    def _split_test(self, test: FlatTest, number: int) -> _Planned:
        scope = self._scope.copy()
        for fixture in test.fixtures:
            scope.bind([fixture], ast.Constant(None), Level.DEPENDENT)
        for table in test.tables:
            bind_columns(scope, _target(table), table.rows)
        splitter = StatementSplitter(scope)
        halves = splitter.split(test.body)
        uses: Uses = {}
        body = keep_used(halves.steps, uses, scope.literals)
        columns = [key for table in test.tables for key in table.names]
        tables = [project_table(_target(t), t.rows, uses, scope.literals) for t in test.tables]
        judged = [judged_rows(_target(t), t.rows, scope) for t in test.tables]
        for key in (*columns, *test.fixtures):
            uses.pop(key, None)
        for rows in tables:
            add_uses(rows, uses)
        for item in sorted(uses.keys() & scope.refused.keys()):
            raise RefusedError(scope.refused[item])
        parameters = [*columns, *test.fixtures]
        function = _function(f"scenario_{number}", parameters, body, is_async=test.is_async)
        judge = _JudgeForms().visit(_function(f"judge_{number}", columns, halves.judge))
        check_separation(function, tables, judge, judged)
        used = self._names_of_module([function, *tables, judge], uses)
        if not used:
            raise RefusedError("the test does not use the module")
        return _Planned(
            Scenario(test.name, test.line, frozenset(used)),
            function,
            _entry(function.name, test.fixtures, test.tables, tables),
            judge,
            _entry(judge.name, None, test.tables, judged),
            uses,
        )

    def _names_of_module(self, nodes: Iterable[ast.AST], uses: Uses) -> set[str]:
        """Return the names of the module that nodes use, themselves or by what they use."""
        imported = self._scope.imported
        found: set[str] = set()
        for node in (*nodes, *keep_steps(self._preamble.steps, dict(uses))):
            names = {dotted_name(item) for item in ast.walk(node)}
            found |= {imported[name] for name in names if imported.get(name)}
            parts = [name.split(".") for name in names if "." in name]
            found |= {part[1] for part in parts if imported.get(part[0]) == ""}
        return found

    # -- the texts

    def _scenario_text(self, planned: list[_Planned]) -> str:
        uses: Uses = {}
        for item in planned:
            for key, used in item.uses.items():
                known = uses.get(key, frozenset())
                uses[key] = None if used is None or known is None else known | used
        body = keep_used(self._preamble.steps, uses, self._scope.literals)
        imports = [found for node in self._imports for found in _used_imports(node, uses)]
        entries = ast.List([item.entry for item in planned], ast.Load())
        last = ast.Assign([ast.Name("scenarios", ast.Store())], entries)
        return unparse([*_unique(imports), *body, *(item.function for item in planned), last])

    def _judge_text(self, planned: list[_Planned]) -> str:
        imports: list[ast.stmt] = [
            found for node in self._imports for found in self._judge_imports(node)
        ]
        entries = ast.List([item.judge_entry for item in planned], ast.Load())
        last = ast.Assign([ast.Name("judges", ast.Store())], entries)
        functions = [item.judge for item in planned]
        return unparse([*_unique(imports), *self._preamble.judge, *functions, last])

    def _judge_imports(self, node: ast.Import | ast.ImportFrom) -> Iterator[ast.stmt]:
        """Yield an import without the module under test, whose classes get stand-ins."""
        for item in node.names:
            key = item.asname or item.name.partition(".")[0]
            if key in self._scope.imported:
                yield from self._stand_ins(key)
            elif _root_module(node, item) in (*sys.stdlib_module_names, "pytest"):
                yield _import_of(node, item)

    def _stand_ins(self, key: str) -> Iterator[ast.stmt]:
        classes = self._scope.classes
        if key in classes:
            yield ast.Assign([ast.Name(key, ast.Store())], self._symbol(classes[key]))
        members = {k.partition(".")[2]: v for k, v in classes.items() if k.startswith(f"{key}.")}
        if members:
            body: list[ast.stmt] = [
                ast.Assign([ast.Name(k, ast.Store())], self._symbol(v)) for k, v in members.items()
            ]
            yield ast.ClassDef(key, [], [], body, [])

    def _symbol(self, symbol: ClassSymbol) -> ast.expr:
        fields = [
            tuple_of([ast.Constant(key), expression(default or "REQUIRED__")])
            for key, default in symbol.fields
        ]
        names = [self._scope.module, symbol.name, symbol.kind]
        constants: list[ast.expr] = [ast.Constant(item) for item in names]
        return ast.Call(name("symbol__"), [*constants, tuple_of(list[ast.expr](fields))], [])


class _JudgeForms(ast.NodeTransformer):
    """Replaces questions about classes and identity by those that work for copies of values."""

    _functions: ClassVar = {
        "isinstance": "is_instance__",
        "issubclass": "is_subclass__",
        "type": "type_of__",
    }

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        called = dotted_name(node.func)
        if called in self._functions and len(node.args) == (1 if called == "type" else 2):
            node.func = name(self._functions[called])
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        if len(node.ops) > 1 or not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return node
        form = "is_same__(_l, _r)" if isinstance(node.ops[0], ast.Is) else "not is_same__(_l, _r)"
        return expression(form, _l=node.left, _r=node.comparators[0])


def _remove_imports(tree: ast.Module) -> None:
    """Remove all imports, which stand at the top of both texts."""
    kinds = (ast.Import, ast.ImportFrom)
    for node in ast.walk(tree):
        for key, body in ast.iter_fields(node):
            if isinstance(body, list) and any(isinstance(part, kinds) for part in body):
                kept = [part for part in body if not isinstance(part, kinds)]
                setattr(node, key, kept or [ast.Pass()])


def keep_steps(steps: list[Step], uses: Uses) -> list[ast.stmt]:
    """Return the statements of the top level that a scenario uses."""
    try:
        return keep_used(steps, uses, {})
    except RefusedError:
        return [step.node for step in steps]


def _target(table: Table) -> ast.expr:
    names: list[ast.expr] = [ast.Name(item, ast.Store()) for item in table.names]
    return names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())


def _function(
    label: str, parameters: list[str], body: list[ast.stmt], *, is_async: bool = False
) -> ast.FunctionDef | ast.AsyncFunctionDef:
    text = f"{'async ' if is_async else ''}def {label}({', '.join(parameters)}): pass"
    made = ast.parse(text).body[0]
    assert isinstance(made, Function)
    made.body = body or [ast.Pass()]
    return made


def _entry(
    label: str, fixtures: tuple[str, ...] | None, tables: tuple[Table, ...], rows: list[ast.expr]
) -> ast.expr:
    """Return the entry of a function in the list of its text."""
    listed = [
        tuple_of([expression(repr(table.names)), _as_tuples(table, found)])
        for table, found in zip(tables, rows, strict=True)
    ]
    given = expression("lambda: _t", _t=ast.List(list[ast.expr](listed), ast.Load()))
    parts: list[ast.expr] = [name(label)]
    if fixtures is not None:
        parts.append(expression(repr(fixtures)))
    return tuple_of([*parts, given])


def _as_tuples(table: Table, rows: ast.expr) -> ast.expr:
    if len(table.names) > 1:
        return rows
    if isinstance(rows, ast.List):
        return ast.List([tuple_of([item]) for item in rows.elts], ast.Load())
    return expression("[(_x,) for row in _r]".replace("_x", "row"), _r=rows)


def _used_imports(
    node: ast.Import | ast.ImportFrom, uses: Uses
) -> Iterator[ast.Import | ast.ImportFrom]:
    for item in node.names:
        if (item.asname or item.name.partition(".")[0]) in uses or node_is_future(node):
            yield _import_of(node, item)


def _root_module(node: ast.Import | ast.ImportFrom, item: ast.alias) -> str:
    found = node.module or "" if isinstance(node, ast.ImportFrom) else item.name
    return found.partition(".")[0]


def node_is_future(node: ast.Import | ast.ImportFrom) -> bool:
    """Return whether an import changes how the text is compiled."""
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _import_of(node: ast.Import | ast.ImportFrom, item: ast.alias) -> ast.Import | ast.ImportFrom:
    if isinstance(node, ast.ImportFrom):
        return ast.ImportFrom(node.module, [item], node.level)
    return ast.Import([item])


def _unique(nodes: Iterable[ast.stmt]) -> list[ast.stmt]:
    return list({ast.unparse(ast.fix_missing_locations(node)): node for node in nodes}.values())
