"""The proof that a scenario holds nothing that its test expects."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from greenloop.testsuite.scenarios.names import get_dotted_name, walk
from greenloop.testsuite.scenarios.reading.inlining import OF_INSTANCE
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
        elif isinstance(node, ast.Call) and get_dotted_name(node.func) in ("raised__", "warned__"):
            yield from node.args[1:]


def _constant_places(node: ast.AST) -> Iterator[tuple[int, int, str]]:
    for item in walk(node):
        if isinstance(item, ast.Constant) and item.value is not None and hasattr(item, "lineno"):
            yield item.lineno, item.col_offset, repr(item.value)


def check_names(nodes: Iterable[ast.AST], names: Mapping[str, str]) -> None:
    """Check that names of a scenario mean there what they mean in the test.

    Raises:
        RefusedError: an attribute of the test's instance is set nowhere, or the code is told of one
            of `names`, which are neutral there, as a text.
    """
    parts = [part for node in nodes for part in walk(node)]
    texts = {part.value for part in parts if isinstance(part, ast.Constant)}
    defined = {getattr(part, "name", "") for part in parts}
    for original, neutral in names.items():
        if original in texts and neutral in defined:
            raise RefusedError(f"the code gets {original} and its name")
    ids = [part for part in parts if isinstance(part, ast.Name) and part.id.startswith(OF_INSTANCE)]
    unset = {part.id for part in ids} - {i.id for i in ids if isinstance(i.ctx, ast.Store)}
    for item in sorted(unset):
        raise RefusedError(f"self.{item.removeprefix(OF_INSTANCE)} has no known value")
