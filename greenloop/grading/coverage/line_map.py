"""Map from lines of a project to the tests that run them, from the hits of a traced test run."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import or_

from greenloop.sandbox.guest.coverage.instrumentation import instrument_file
from greenloop.syntax.nodes import list_header_lines


def map_lines(text: str, hits: Mapping[str, int], tests: Sequence[str]) -> dict[int, str]:
    """Return for each line that was run a bit mask of `tests`, in hexadecimal.

    `hits` are bit masks by test, of the statements as a traced run of the file numbers them.
    """
    meaning = instrument_file(text)
    if meaning is None:
        return {}
    bits = {name: 1 << at for at, name in enumerate(tests)}
    found: dict[int, int] = {}
    for test, mask in hits.items():
        for number, line in meaning.lines.items():
            if mask >> number & 1:
                found[line] = found.get(line, 0) | bits.get(test, 0)
    ends = find_statement_ends(text)
    spread = {
        at: mask
        for line, mask in sorted(found.items())
        for at in range(line, ends.get(line, line) + 1)
    }
    for line, owner in _iter_clauses(ast.parse(text)):
        if owner in spread:
            spread.setdefault(line, spread[owner])
    return {at: f"{mask:x}" for at, mask in sorted(spread.items())}


def list_lines(reached: Mapping[int, str], places: Mapping[str, int]) -> dict[str, frozenset[int]]:
    """Return the lines that each test runs, from the masks of `map_lines`; `places` are bits."""
    masks = {line: int(mask, 16) for line, mask in reached.items()}
    return {
        test: frozenset(line for line, mask in masks.items() if mask >> at & 1)
        for test, at in places.items()
    }


def _iter_clauses(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """Yield each line of an `except` or `case` header, with a line whose tests may also run it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Match):
            yield from ((item.pattern.lineno, node.lineno) for item in node.cases)
        for item in getattr(node, "handlers", ()):
            for line in range(item.lineno, max(item.lineno + 1, item.body[0].lineno)):
                yield line, node.body[0].lineno  # type: ignore[attr-defined]


def list_taken_branches(text: str, hits: Mapping[str, int]) -> tuple[str, ...]:
    """Return the branches that a test took, as `12->15`."""
    meaning, union = instrument_file(text), reduce(or_, hits.values(), 0)
    if meaning is None:
        return ()
    return tuple(name for number, name in meaning.branches.items() if union >> number & 1)


def find_statement_ends(text: str) -> dict[int, int]:
    """Return the last line of each statement, or of a compound one's header, by its first line."""
    statements = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt))
    return {node.lineno: list_header_lines(node)[-1] for node in statements}
