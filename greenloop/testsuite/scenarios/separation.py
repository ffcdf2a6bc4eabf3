"""The proof that a scenario holds nothing that its test expects."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from greenloop.testsuite.scenarios.names import get_dotted_name, walk_all
from greenloop.testsuite.scenarios.reading.inlining import OF_INSTANCE
from greenloop.testsuite.scenarios.records import RefusedError


def check_separation(crossing: Iterable[ast.AST], judge: Iterable[ast.AST]) -> None:
    """Check that no constant of an expected side crosses, unless it is an input as well.

    `crossing` are all nodes of a scenario and its tables, `judge` all that stay behind.

    Constants keep their place in the test file in both parts. Those of the judge's assertions are
    of expected sides; a copy of one in the scenario would be a mistake of the analysis.

    Raises:
        RefusedError: there is one.
    """
    expected = _constant_places(walk_all(_find_expected(judge)))
    found = sorted(expected & _constant_places(crossing))
    if found:
        raise RefusedError("an expected value would reach the code", found[0][0])


def _find_expected(judge: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in judge:
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.Call) and get_dotted_name(node.func) in ("raised__", "warned__"):
            yield from node.args[1:]


def _constant_places(nodes: Iterable[ast.AST]) -> set[tuple[int, int, str]]:
    return {
        (item.lineno, item.col_offset, repr(item.value))
        for item in nodes
        if isinstance(item, ast.Constant) and item.value is not None and hasattr(item, "lineno")
    }


def check_names(nodes: Iterable[ast.AST], names: Mapping[str, str]) -> None:
    """Check that names of a scenario mean there what they mean in the test.

    Raises:
        RefusedError: an attribute of the test's instance is set nowhere, or the code is told of one
            of `names`, which are neutral there, as a text.
    """
    parts = list(nodes)
    if names:
        texts = {part.value for part in parts if isinstance(part, ast.Constant)}
        defined = {getattr(part, "name", "") for part in parts}
        for original, neutral in names.items():
            if original in texts and neutral in defined:
                raise RefusedError(f"the code gets {original} and its name")
    ids = [part for part in parts if isinstance(part, ast.Name) and part.id.startswith(OF_INSTANCE)]
    unset = {part.id for part in ids} - {i.id for i in ids if isinstance(i.ctx, ast.Store)}
    for item in sorted(unset):
        raise RefusedError(f"self.{item.removeprefix(OF_INSTANCE)} has no known value")
