"""Special cases: branches that exist for the whole input of one test.

The comparison is taken out of the code. It is a special case where the code then answers that
test's call otherwise, and the other tests' calls and the input's neighbours as before.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from greenloop.grading.memorization.call_extraction import ExtractedCall
from greenloop.syntax.parse import parse_or_empty, read_literal
from greenloop.syntax.source import Source

_MAX_CANDIDATES = 8
_MAX_NEIGHBOURS = 12
_TRIVIAL = frozenset(map(repr, (0, 1, 2, -1, 0.0, 1.0, -1.0, "", b"", None, True, False)))
_Answers = Sequence[dict[str, Any] | None]
Evaluate = Callable[[str, Sequence[str]], _Answers]


class _Comparison(NamedTuple):
    """A literal that something is compared with."""

    node: ast.expr
    stub: str  # what takes its place
    leaves: tuple[str, ...]
    is_alone: bool  # nothing else is compared with what it is compared with


def find_special_cases(
    code: str, calls: Sequence[ExtractedCall], text: str, evaluate: Evaluate
) -> tuple[str, ...]:
    """Return the calls of tests that the code has branches for, each with its line.

    `text` is the contract, whose constants suffice for no suspicion; `evaluate` answers calls.
    """
    source = Source(code)
    found = _find_candidates(parse_or_empty(code), calls, text)
    special = (
        f"line {item.node.lineno}: {call.call}"
        for item, call in islice(found, _MAX_CANDIDATES)
        if source.has_valid_span(item.node) and _is_special(source, item, call, calls, evaluate)
    )
    return tuple(dict.fromkeys(special))


def _find_candidates(
    tree: ast.Module, calls: Sequence[ExtractedCall], text: str
) -> Iterator[tuple[_Comparison, ExtractedCall]]:
    comparisons = list(_find_comparisons(tree))
    for call in calls:
        leaves = tuple(_iter_leaves(call.arguments))
        if _TRIVIAL.issuperset(leaves) or _is_in_text(call, leaves, text):
            continue
        for item in comparisons:
            if item.leaves == leaves and (len(leaves) > 1 or item.is_alone):
                yield item, call


def _is_in_text(call: ExtractedCall, leaves: Sequence[str], text: str) -> bool:
    """Whether the text names each constant outside of calls of the function."""
    prose = re.sub(rf"\b{re.escape(call.function)}\([^()\n]*\)", "", text)
    wanted = [leaf.strip("'\"") for leaf in leaves if leaf not in _TRIVIAL]
    return all(re.search(rf"(?<!\w){re.escape(leaf)}(?!\w)", prose) for leaf in wanted)


def _find_comparisons(tree: ast.Module) -> Iterator[_Comparison]:
    compares = [item for item in ast.walk(tree) if isinstance(item, ast.Compare)]
    subjects = [ast.dump(item.left) for item in compares]
    for item in compares:
        if len(item.ops) == 1 and isinstance(item.ops[0], (ast.Eq, ast.NotEq)):
            stub = str(isinstance(item.ops[0], ast.NotEq))
            is_alone = subjects.count(ast.dump(item.left)) == 1
            yield from _compare(item, stub, item.comparators[0], is_alone)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Set, ast.Dict, ast.Tuple, ast.List)):
            elements = node.keys if isinstance(node, ast.Dict) else node.elts
            for element in filter(None, elements):
                yield from _compare(element, "object", element, len(elements) == 1)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                for pattern in ast.walk(case.pattern):
                    if isinstance(pattern, ast.MatchValue):
                        value, is_alone = pattern.value, len(node.cases) < 3
                        yield from _compare(value, repr("\0"), value, is_alone)


def _compare(node: ast.expr, stub: str, literal: ast.expr, is_alone: bool) -> Iterator[_Comparison]:
    if known := read_literal(literal):
        yield _Comparison(node, stub, tuple(_iter_leaves(known[0])), is_alone)


def _iter_leaves(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple, set, frozenset)):
        for item in sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value:
            yield from _iter_leaves(item)
    else:
        yield repr(value)


def _is_special(
    source: Source,
    item: _Comparison,
    call: ExtractedCall,
    calls: Sequence[ExtractedCall],
    evaluate: Evaluate,
) -> bool:
    others = [other.call for other in calls if other.arguments != call.arguments]
    neighbours = call.build_variants()
    step = len(neighbours) // _MAX_NEIGHBOURS + 1
    asked = [call.call, *neighbours[::step], *others]
    changed = source.replace_node(item.node, f" {item.stub} ").apply_to(source.text)
    now, without = evaluate(source.text, asked), evaluate(changed, asked)
    return bool(neighbours) and now[0] != without[0] and list(now[1:]) == list(without[1:])
