"""Special cases: branches that exist for the whole input of one test.

The comparison is taken out of the code. It is a special case where the code then answers that
test's call otherwise, and the other tests' calls and the input's neighbours as before.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from greenloop.grading.inputs.builder import Input
from greenloop.grading.inputs.runs import Answer
from greenloop.syntax.parse import parse_or_empty, read_literal
from greenloop.syntax.source import Source

_MAX_CANDIDATES, _MAX_NEIGHBOURS = 8, 12
_TRIVIAL = frozenset(map(repr, (0, 1, 2, -1, 0.0, 1.0, -1.0, "", b"", None, True, False)))
Run = Callable[[str, Sequence[Input]], list[Answer]]


@dataclass(frozen=True)
class _Comparison:
    """A literal that something is compared with."""

    node: ast.expr
    stub: str  # what takes its place
    leaves: tuple[str, ...]
    is_alone: bool  # nothing else is compared with what it is compared with


def find_special_cases(
    code: str, calls: Sequence[ast.Call], variants: Sequence[Input], text: str, run: Run
) -> tuple[str, ...]:
    """Return the calls of tests that the code has branches for, each with its line.

    `text` is the contract, whose constants suffice for no suspicion; `run` answers calls.
    """
    source = Source(code)
    found = _find_candidates(parse_or_empty(code), calls, text)
    special = (
        f"line {item.node.lineno}: {ast.unparse(call)}"
        for item, call in islice(found, _MAX_CANDIDATES)
        if source.has_valid_span(item.node)
        and _is_special(source, item, call, calls, variants, run)
    )
    return tuple(dict.fromkeys(special))


def _find_candidates(
    tree: ast.Module, calls: Sequence[ast.Call], text: str
) -> Iterator[tuple[_Comparison, ast.Call]]:
    comparisons = list(_find_comparisons(tree))
    for call in calls:
        leaves = tuple(_list_leaves(call))
        if _TRIVIAL.issuperset(leaves) or _is_in_text(call, leaves, text):
            continue
        for item in comparisons:
            if item.leaves == leaves and (len(leaves) > 1 or item.is_alone):
                yield item, call


def _list_leaves(call: ast.Call) -> Iterator[str]:
    """Yield the constants of a call in the order of its arguments."""
    for node in (*call.args, *(item.value for item in call.keywords)):
        yield from _iter_leaves(known[0] if (known := read_literal(node)) else ast.unparse(node))


def _is_in_text(call: ast.Call, leaves: Sequence[str], text: str) -> bool:
    """Whether the text names each constant outside of calls of the function."""
    prose = re.sub(rf"\b{re.escape(ast.unparse(call.func))}\([^()\n]*\)", "", text)
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
    call: ast.Call,
    calls: Sequence[ast.Call],
    variants: Sequence[Input],
    run: Run,
) -> bool:
    name, text = ast.unparse(call.func), ast.unparse(call)
    others = [Input(other, ast.unparse(other.func)) for other in calls]
    near = [i for i in variants if i.name == name and _squeeze(i.text) != _squeeze(text)]
    asked = [Input(call, name), *near[:: len(near) // _MAX_NEIGHBOURS + 1]]
    asked += [other for other in others if other.text != text]
    changed = source.replace_node(item.node, f" {item.stub} ").apply_to(source.text)
    now, without = (
        [answer.observed for answer in run(code, asked)] for code in (source.text, changed)
    )
    return bool(near) and now[0] != without[0] and now[1:] == without[1:]


def _squeeze(text: str) -> str:
    """Return a text without white space, which a branch may strip."""
    return "".join(text.split())
