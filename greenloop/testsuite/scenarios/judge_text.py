"""The text of the process of the tests, and the same text with other expected values."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from greenloop.syntax.source import Source, TextEdit
from greenloop.testsuite.scenarios.names import all_names, walk_all
from greenloop.testsuite.scenarios.nodes import copy_node
from greenloop.testsuite.scenarios.reading.decorators import Table
from greenloop.testsuite.scenarios.reading.renaming import restore_names
from greenloop.testsuite.scenarios.scope import Scope
from greenloop.testsuite.scenarios.texts import render_entry, render_stand_ins


class JudgedTest(NamedTuple):
    """What judges one test: a function, and the rows of its tables; `crossing` reaches the code."""

    function: ast.FunctionDef | ast.AsyncFunctionDef
    tables: tuple[Table, ...]
    rows: list[ast.expr]
    crossing: Sequence[ast.AST]


class JudgeText(NamedTuple):
    """The parts of the text; `imports` are those of the file: name, root and statement of each.

    `names` are neutral names of the file's helpers, by their own.
    """

    scope: Scope
    imports: Sequence[tuple[str, str, str]]
    preamble: Sequence[ast.stmt]
    tests: Sequence[JudgedTest]
    names: Mapping[str, str]

    def render(self) -> str:
        """Return the text without the module under test, whose classes get stand-ins."""
        lines = list[str]()
        body = [ast.unparse(item) for item in (*self.preamble, *(i.function for i in self.tests))]
        entries = [render_entry(item.function, "", item.tables, item.rows) for item in self.tests]
        body.append(f"judges = [{', '.join(entries)}]")
        for key, root, text in self.imports:
            # A text that does not use pytest is judged in a smaller process.
            is_used = root != "pytest" or any(key in item for item in body)
            if key in self.scope.imported:
                lines += render_stand_ins(key, self.scope.module, self.scope.classes)
            elif (root == "pytest" or root in sys.stdlib_module_names) and is_used:
                lines.append(text)
        lines += body
        own = {neutral: name for name, neutral in self.names.items()}
        return restore_names("\n".join(lines), self.names) + f"\nnames = {own!r}\n"

    def render_edited(self, source: Source, edits: Collection[TextEdit]) -> str | None:
        """Return the text for the tests with these edits; None where they must be planned anew.

        It is the text of a new plan where each edit replaces an expression that judges as it stands
        in the test file, is no input of the code, and uses no names but its own and built-in ones.
        """
        editor = _Editor(source, edits)
        crossing = walk_all(chain.from_iterable(item.crossing for item in self.tests))
        if any(isinstance(node, ast.expr) and editor.find_edit(node) for node in crossing):
            return None
        tests = [
            item._replace(
                function=editor.visit(copy_node(item.function)),
                rows=[editor.visit(copy_node(rows)) for rows in item.rows],
            )
            for item in self.tests
        ]
        return self._replace(tests=tests).render() if editor.made.issuperset(edits) else None


class _Editor(ast.NodeTransformer):
    """Makes edits of a source in trees that were built from its nodes; `made` are those it made."""

    def __init__(self, source: Source, edits: Collection[TextEdit]) -> None:
        self._source = source
        self._edits = {(item.start, item.end): item for item in edits}
        self.made: set[TextEdit] = set()

    def visit(self, node: ast.AST) -> Any:
        edit = self.find_edit(node) if isinstance(node, ast.expr) else None
        if edit is None:
            return self.generic_visit(node)
        before, after = map(_parse, (self._source.text[edit.start : edit.end], edit.text))
        known = {*all_names(before), *vars(builtins)}
        if ast.dump(before) == ast.dump(node) and known.issuperset(all_names(after)):
            self.made.add(edit)
            return after
        return node

    def find_edit(self, node: ast.expr) -> TextEdit | None:
        """Return the edit of a node that stands in the source; None for all others."""
        return self._edits.get(self._source.span(node)) if hasattr(node, "lineno") else None


def _parse(text: str) -> ast.expr:
    return ast.parse(f"({text})", mode="eval").body
