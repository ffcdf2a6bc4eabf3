"""The plan of a test file: what each process runs."""

from __future__ import annotations

import ast
import contextlib
from typing import NamedTuple

from greenloop.testsuite.scenarios.judge_text import JudgedTest, JudgeText
from greenloop.testsuite.scenarios.module_symbols import ClassSymbol
from greenloop.testsuite.scenarios.names import (
    bound_names,
    read_attributes,
    read_module_names,
    walk,
    walk_all,
)
from greenloop.testsuite.scenarios.nodes import build_function
from greenloop.testsuite.scenarios.proofs.given import check_given
from greenloop.testsuite.scenarios.proofs.separation import check_names, check_separation
from greenloop.testsuite.scenarios.reading.flattening import flatten
from greenloop.testsuite.scenarios.reading.inlining import OF_INSTANCE
from greenloop.testsuite.scenarios.reading.renaming import (
    choose_neutral_names,
    rename,
    restore_names,
)
from greenloop.testsuite.scenarios.reading.test_module import (
    FlatTest,
    TestFunction,
    read_test_module,
)
from greenloop.testsuite.scenarios.records import (
    NotObservable,
    RefusedError,
    Scenario,
    ScenarioFile,
    WholeFile,
)
from greenloop.testsuite.scenarios.scope import Level, Scope
from greenloop.testsuite.scenarios.splitting.definitions import check_observable
from greenloop.testsuite.scenarios.splitting.statements import StatementSplitter
from greenloop.testsuite.scenarios.splitting.steps import (
    Halves,
    Step,
    Uses,
    add_uses,
    keep_used,
    merge_uses,
    pin_captured,
)
from greenloop.testsuite.scenarios.splitting.tables import (
    bind_columns,
    build_judged_rows,
    project_table,
)
from greenloop.testsuite.scenarios.texts import (
    JudgeForms,
    names_of_imports,
    render_entry,
    take_imports,
)
from greenloop.testsuite.scenarios.whole import WholeTests


class _Planned(NamedTuple):
    """One test in two parts, with what its scenario uses of the file."""

    scenario: Scenario
    function: str
    entry: str
    judged: JudgedTest
    uses: Uses


class Planner:
    """The plan of one file; `scope` is that of its top level."""

    def __init__(self, tree: ast.Module, module: str, symbols: dict[str, ClassSymbol]) -> None:
        self._scope = Scope(module, symbols)
        imports = take_imports(tree)
        for node in imports:
            self._scope.import_names(node)
        self._imports = list(dict.fromkeys(names_of_imports(imports)))
        self._names = choose_neutral_names(tree)
        self._file = read_test_module(rename(tree, self._names))
        self._preamble = self._split_preamble()

    def plan(self) -> ScenarioFile:
        planned: list[_Planned] = []
        refused: list[NotObservable] = []
        for item in self._file.tests:
            found = self._plan(item, len(planned))
            if isinstance(found, NotObservable):
                refused.append(found._replace(reason=restore_names(found.reason, self._names)))
            else:
                planned.append(found)
        tests = [item.judged for item in planned]
        parts = JudgeText(self._scope, self._imports, self._preamble.judge, tests, self._names)
        judge = parts.render()
        return ScenarioFile(
            self._scenario_text(planned, judge),
            judge,
            tuple(item.scenario for item in planned),
            tuple(refused),
            self._names,
            parts,
        )

    def render_whole(self) -> WholeFile:
        """Return the tests as they are, with what they expect."""
        whole = WholeTests(
            self._imports, self._file.preamble, self._scope.judge_only, self._scope.module
        )
        for item in self._file.tests:
            with contextlib.suppress(RefusedError):
                whole.add(flatten(self._file, item, self._names))
        return WholeFile(whole.render(), tuple(whole.labels))

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
                found.steps += made.steps
                found.judge += made.judge
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

    def _plan(self, test: TestFunction, number: int) -> _Planned | NotObservable:
        """Split a test, or return why it cannot be."""
        try:
            return self._split_test(flatten(self._file, test, self._names), number)
        except RefusedError as error:
            reason = error.reason.replace(OF_INSTANCE, "self.")
            return NotObservable(test.label, error.line or test.node.lineno, reason)

    def _split_test(self, test: FlatTest, number: int) -> _Planned:
        scope = self._scope.copy()
        for fixture in test.fixtures:
            scope.bind([fixture], ast.Constant(None), Level.DEPENDENT)
        for table in test.tables:
            bind_columns(scope, table.target, table.rows)
        judged = [build_judged_rows(t.target, t.rows, scope) for t in test.tables]
        halves = StatementSplitter(scope).split(test.body)
        uses: Uses = {}
        body = keep_used(pin_captured(halves.steps), uses, scope.literals)
        columns = [key for table in test.tables for key in table.names]
        tables = [project_table(t.target, t.rows, uses, scope.literals) for t in test.tables]
        for key in (*columns, *test.fixtures):
            uses.pop(key, None)
        for rows in tables:
            add_uses(rows, uses, scope.literals)
        for item in sorted(uses.keys() & scope.refused.keys()):
            raise RefusedError(scope.refused[item])
        parameters = [*columns, *test.fixtures]
        function = build_function(f"scenario_{number}", parameters, body, is_async=test.is_async)
        judge = JudgeForms().visit(build_function(f"judge_{number}", columns, halves.judge))
        before = keep_used(self._preamble.steps, dict(uses), self._scope.literals)
        crossing = list(walk_all([function, *tables]))
        staying, shared = list(walk(judge)), list(walk_all(before))
        loops = [ast.For(t.target, t.rows, [], []) for t in test.tables]
        staying_parts = [judge, *self._preamble.judge]
        check_separation([function, *tables, *before], staying_parts, loops, scope)
        check_names([*crossing, *shared], self._names)
        held = {
            name for item in before if isinstance(item, ast.Assign) for name in bound_names(item)
        }
        check_given(function, {*columns, *held}, {*scope.objects, *scope.classes, *scope.makers})
        nodes = [*crossing, *staying, *shared]
        used = read_module_names(nodes, self._scope.imported)
        if not used:
            raise RefusedError("the test does not use the module")
        return _Planned(
            Scenario(test.name, test.line, frozenset(used), frozenset(read_attributes(nodes))),
            ast.unparse(function),
            render_entry(function, f"{test.fixtures!r}, ", test.tables, tables),
            JudgedTest(judge, test.tables, judged, [function, *tables, *before]),
            uses,
        )

    # -- the texts

    def _scenario_text(self, planned: list[_Planned], judge: str) -> str:
        uses: Uses = {}
        for item in planned:
            merge_uses(uses, item.uses)
        body = map(ast.unparse, keep_used(self._preamble.steps, uses, self._scope.literals))
        lines = [text for key, root, text in self._imports if key in uses or root == "__future__"]
        lines += [*body, *(item.function for item in planned)]
        if "warned__(" in judge:
            lines.append("records_warnings = True")
        return "\n".join([*lines, f"scenarios = [{', '.join(item.entry for item in planned)}]\n"])
