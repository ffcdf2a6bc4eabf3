"""Tests as they are, for a process without pytest: what fails there alone contradicts a green.

Expected values reach the code, so that nothing here ever speaks for it. What cannot be observed is
asked all the same: loops over answers, branches, and operators of the code's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from greenloop.testsuite.scenarios.names import bound_names, free_names, get_dotted_name
from greenloop.testsuite.scenarios.nodes import build_function, copy_node, expression, locate_like
from greenloop.testsuite.scenarios.reading.assertions import block_kind
from greenloop.testsuite.scenarios.reading.test_module import FlatTest
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.splitting.tables import split_rows
from greenloop.testsuite.scenarios.texts import render_entry


class WholeTests:
    """The tests of a file; `labels` are those that the text has, in its order."""

    def __init__(
        self,
        imports: Sequence[tuple[str, str, str]],
        preamble: Iterable[ast.stmt],
        judge_only: set[str],
        module: str,
    ) -> None:
        """`imports` are names, roots and texts; tests that use `judge_only` names are left out."""
        self._always = ("__future__", module.partition(".")[0])  # `module` may register something
        self._imports, self._judge_only = imports, frozenset(judge_only)
        self._preamble = [self._rewrite(node) for node in preamble]
        self._functions: list[str] = []
        self._entries: list[str] = []
        self._used: set[str] = set()
        self.labels: list[str] = []

    def add(self, test: FlatTest) -> None:
        """Add a test, unless it needs what only pytest has."""
        columns = [name for table in test.tables for name in table.names]
        body = [self._rewrite(node) for node in test.body]
        label = f"whole_{len(self.labels)}"
        parameters = [*columns, *test.fixtures]
        function = build_function(label, parameters, body, is_async=test.is_async)
        try:
            rows = [_plain_rows(table.rows) for table in test.tables]
        except RefusedError:
            return
        used = {name for node in (function, *rows) for name in free_names(node)}
        for node in reversed(self._preamble):
            if _defines(node) & used:
                used |= set(free_names(node))
        if used & self._judge_only:
            return
        self._used |= used
        self.labels.append(test.name)
        self._functions.append(ast.unparse(locate_like(function, function.body[0])))
        self._entries.append(render_entry(function, f"{test.fixtures!r}, ", test.tables, rows))

    def render(self) -> str:
        """Return the text of all tests, in the form of scenarios."""
        lines = [
            text
            for key, root, text in self._imports
            if key in self._used or key == "*" or root in self._always
        ]
        needed = [node for node in self._preamble if _defines(node) & self._used]
        lines += [*map(ast.unparse, needed), *self._functions]
        return "\n".join([*lines, f"scenarios = [{', '.join(self._entries)}]\n"])

    def _rewrite(self, node: ast.stmt) -> ast.stmt:
        made: ast.stmt = _WithoutPytest(self._judge_only).visit(copy_node(node))
        return made


class _WithoutPytest(ast.NodeTransformer):
    """Gives assertions and `raises` a form that needs no pytest."""

    def __init__(self, judge_only: frozenset[str]) -> None:
        self._judge_only = judge_only

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        test = node.test
        if self._judge_only & set(free_names(test)):  # as `approx`
            return locate_like(ast.Pass(), node)
        if isinstance(test, ast.Compare) and [type(item) for item in test.ops] == [ast.Eq]:
            test = expression("equal__(_l, _r)", _l=test.left, _r=test.comparators[0])
        return locate_like(ast.Assert(test), node)

    def visit_With(self, node: ast.With | ast.AsyncWith) -> ast.AST:
        self.generic_visit(node)
        for item in node.items:
            called = get_dotted_name(getattr(item.context_expr, "func", item.context_expr))
            if block_kind(item.context_expr) == "raises":
                item.context_expr = locate_like(expression("Raising__()"), node)
            elif called == "subTest":
                item.context_expr = locate_like(expression("nullcontext__()"), node)
        return node

    visit_AsyncWith = visit_With


def _defines(node: ast.stmt) -> set[str]:
    return bound_names(node) | {getattr(node, "name", "")}


def _plain_rows(rows: ast.expr) -> ast.expr:
    found = split_rows(rows, {})
    return rows if found is None else ast.List(list(map(copy_node, found)), ast.Load())
