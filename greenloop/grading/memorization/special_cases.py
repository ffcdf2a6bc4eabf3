"""Special cases: branches that exist for the whole input of one test.

The comparison is taken out of the code. It is a special case where the code then answers that
test's call otherwise, and the other tests' calls and the input's neighbours as before.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from greenloop.grading.memorization.call_extraction import ExtractedCall
from greenloop.grading.memorization.input_variants import generate_input_variants
from greenloop.syntax.parse import parse_or_none, read_literal

_MAX_CANDIDATES = 8
_MAX_NEIGHBOURS = 12
_TRIVIAL = frozenset(map(repr, (0, 1, 2, -1, 0.0, 1.0, -1.0, "", b"", None, True, False)))
_Answers = Sequence[dict[str, Any] | None]
Evaluate = Callable[[str, Sequence[str]], _Answers]


@dataclass(frozen=True)
class _Comparison:
    """A literal that something is compared with."""

    node: ast.expr
    stub: ast.expr  # what takes its place
    leaves: tuple[str, ...]
    is_alone: bool  # nothing else is compared with what it is compared with


def find_special_cases(
    code: str, calls: Sequence[ExtractedCall], text: str, evaluate: Evaluate
) -> tuple[str, ...]:
    """Return the calls of tests that the code has branches for, each with its line.

    `text` is the contract, whose constants suffice for no suspicion; `evaluate` answers calls.
    """
    tree = parse_or_none(code)
    if tree is None:
        return ()
    found = list(_find_candidates(tree, calls, text))[:_MAX_CANDIDATES]
    special = (
        f"line {item.node.lineno}: {call.call}"
        for item, call in found
        if _is_special(code, tree, item, call, calls, evaluate)
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
            stub = ast.Constant(isinstance(item.ops[0], ast.NotEq))
            yield from _compare(
                item, stub, item.comparators[0], subjects.count(ast.dump(item.left)) == 1
            )
    for node in ast.walk(tree):
        if isinstance(node, (ast.Set, ast.Dict, ast.Tuple, ast.List)):
            elements = node.keys if isinstance(node, ast.Dict) else node.elts
            for element in filter(None, elements):
                yield from _compare(element, ast.Name("object"), element, len(elements) == 1)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                for pattern in ast.walk(case.pattern):
                    if isinstance(pattern, ast.MatchValue):
                        yield from _compare(
                            pattern.value, ast.Constant("\0"), pattern.value, len(node.cases) < 3
                        )


def _compare(
    node: ast.expr, stub: ast.expr, literal: ast.expr, is_alone: bool
) -> Iterator[_Comparison]:
    known = read_literal(literal)
    if known:
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
    code: str,
    tree: ast.Module,
    item: _Comparison,
    call: ExtractedCall,
    calls: Sequence[ExtractedCall],
    evaluate: Evaluate,
) -> bool:
    others = [other.call for other in calls if other.arguments != call.arguments]
    neighbours = [
        f"{call.function}({', '.join(map(repr, arguments))})"
        for arguments in generate_input_variants(call.arguments)
    ]
    step = len(neighbours) // _MAX_NEIGHBOURS + 1
    asked = [call.call, *neighbours[::step], *others]
    now, without = evaluate(code, asked), evaluate(_replace(tree, item), asked)
    return bool(neighbours) and now[0] != without[0] and list(now[1:]) == list(without[1:])


def _replace(tree: ast.Module, item: _Comparison) -> str:
    """Return the source with one comparison replaced."""
    position = next(n for n, node in enumerate(ast.walk(tree)) if node is item.node)
    copied = copy.deepcopy(tree)
    target = next(node for n, node in enumerate(ast.walk(copied)) if n == position)
    changed: ast.AST = _Replacement(target, item.stub).visit(copied)
    return ast.unparse(changed)


class _Replacement(ast.NodeTransformer):
    """Replaces one node of a tree by another."""

    def __init__(self, target: ast.AST, stub: ast.expr) -> None:
        self._target, self._stub = target, stub

    def visit(self, node: ast.AST) -> Any:
        return self._stub if node is self._target else self.generic_visit(node)
