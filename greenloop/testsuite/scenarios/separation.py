"""The proof that a scenario holds nothing that its test expects."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from greenloop.testsuite.scenarios.names import dotted_name, walk
from greenloop.testsuite.scenarios.records import RefusedError


def check_separation(
    scenario: ast.AST, tables: Iterable[ast.AST], judge: ast.AST, judged: Iterable[ast.AST]
) -> None:
    """Check that no constant of an expected side crosses, unless it is an input as well.

    Constants keep their place in the test file in both parts. Those of the judge's assertions are
    of expected sides; a copy of one in the scenario would be a mistake of the analysis.

    Raises:
        RefusedError: there is one.
    """
    expected = {place for node in _assertions(judge) for place in _constant_places(node)}
    crossing = {place for node in (scenario, *tables) for place in _constant_places(node)}
    found = sorted(expected & crossing)
    if found:
        raise RefusedError("an expected value would reach the code", found[0][0])


def _assertions(judge: ast.AST) -> Iterator[ast.AST]:
    for node in walk(judge):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.Call) and dotted_name(node.func) in ("raised__", "warned__"):
            yield from node.args[1:]


def _constant_places(node: ast.AST) -> Iterator[tuple[int, int, str]]:
    for item in walk(node):
        if isinstance(item, ast.Constant) and item.value is not None and hasattr(item, "lineno"):
            yield item.lineno, item.col_offset, repr(item.value)
