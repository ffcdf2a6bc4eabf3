"""The proof that a scenario holds nothing that its test expects."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from greenloop.testsuite.scenarios.names import children, get_dotted_name, walk_all
from greenloop.testsuite.scenarios.proofs.bindings import Bindings, get_observed
from greenloop.testsuite.scenarios.proofs.origins import Origins, Place, read_place
from greenloop.testsuite.scenarios.reading.inlining import OF_INSTANCE
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.scope import Scope

_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set)


def check_separation(
    crossing: Sequence[ast.AST], judge: Sequence[ast.AST], tables: Sequence[ast.AST], scope: Scope
) -> None:
    """Check that no constant that an expected side depends on crosses, unless it is an input as well.

    `crossing` are the parts of a scenario, its tables and what it needs of the top level, `judge`
    those that stay behind, and `tables` loops over the whole tables. An input is what calls of the
    code are given whole: a text of which one word is given shows the other words too.

    Constants keep their place in the test file in both parts.

    Raises:
        RefusedError: there is one.
    """
    parts, staying = list(walk_all(crossing)), list(walk_all(judge))
    bindings = Bindings([*parts, *staying, *tables], scope)
    names = (item for item in (*parts, *staying) if isinstance(item, ast.Name))
    needed = {item.id for item in names if isinstance(item.ctx, ast.Load)}
    observed = list(filter(None, map(get_observed, parts)))
    own = [item for item in observed if bindings.is_own_part(item)]
    beside = {place for item in observed for place in _find_beside(item, bindings)}
    expected = Origins(bindings, needed, is_whole=False).find([*_find_expected(staying), *own])
    reaching = beside | expected & set(filter(None, map(read_place, parts)))
    if reaching:
        given = [item for item in observed if item not in own]
        reaching -= Origins(bindings, needed, is_whole=True).find(given) - beside
    if reaching:
        raise RefusedError("an expected value would reach the code", min(p[0] for p in reaching))


def _find_expected(judge: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for node in judge:
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.Call) and get_dotted_name(node.func) in ("raised__", "warned__"):
            yield from node.args[1:]


def _find_beside(node: ast.AST, bindings: Bindings) -> Iterator[Place]:
    """Yield the constants that an observed expression puts beside answers, as into one list."""
    if not bindings.is_code(node) and not isinstance(node, ast.comprehension):
        parts = [node.value] if isinstance(node, ast.Subscript) else children(node)
        for child in parts:
            if isinstance(node, _DISPLAYS) and (place := read_place(child)):
                yield place
            yield from _find_beside(child, bindings)


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
