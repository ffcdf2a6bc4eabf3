"""Special cases: branches that exist only for the whole input of one test.

A comparison is removed from the code. It is a special case if the code then answers that test's
call differently, but other tests' calls and variants of the input as before.
"""

import ast
import re
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from greenloop.grading.inputs.programs import Input
from greenloop.grading.inputs.runs import Answer
from greenloop.grading.memorization.cases import show
from greenloop.syntax.parse import parse_or_empty, read_literal
from greenloop.syntax.source import Source

ANY_LINE = range(sys.maxsize)
_MAX_CANDIDATES, _MAX_NEIGHBOURS = 8, 12
_MIN_TABLE = 3  # elements; the tests of an honest table ask for each of its entries
_TRIVIAL = frozenset(map(repr, (0, 1, 2, -1, 0.0, 1.0, -1.0, "", b"", None, True, False)))
Run = Callable[[str, Sequence[Input]], list[Answer]]


@dataclass(frozen=True)
class Comparison:
    """A literal that an expression is compared with."""

    node: ast.expr
    literal: ast.expr
    stub: str  # source that replaces `node`
    leaves: tuple[str, ...]
    is_alone: bool  # the only literal that this expression is compared with


def find_special_cases(
    code: str,
    calls: Sequence[Input],
    variants: Sequence[Input],
    text: str,
    run: Run,
    lines: Container[int] = ANY_LINE,
) -> tuple[str, ...]:
    """Return the tests' inputs for which the code has branches on these lines, each with its line.

    `text` is the contract: a branch on its constants is not suspicious. `run` answers calls.
    """
    source = Source(code)
    found = (
        (item, call)
        for item, call in _find_candidates(parse_or_empty(code), calls, text)
        if item.node.lineno in lines and source.has_valid_span(item.node)
    )
    special = (
        f"line {item.node.lineno}: {ast.unparse(show(call))}"
        for item, call in islice(found, _MAX_CANDIDATES)
        if _is_special(source, item, call, calls, variants, run)
    )
    return tuple(dict.fromkeys(special))


def _find_candidates(
    tree: ast.Module, calls: Sequence[Input], text: str
) -> Iterator[tuple[Comparison, Input]]:
    comparisons = list(find_comparisons(tree))
    for call in calls:
        nodes = [node for node in ast.walk(show(call)) if isinstance(node, ast.Call)]
        for leaves in dict.fromkeys(tuple(_list_leaves(*_list_arguments(node))) for node in nodes):
            if _TRIVIAL.issuperset(leaves) or _is_in_text(call.name, leaves, text):
                continue
            for item in comparisons:
                if item.leaves == leaves and (len(leaves) > 1 or item.is_alone):
                    yield item, call


def _list_leaves(*nodes: ast.expr) -> Iterator[str]:
    """Yield the values of expressions in order; a call is one value."""
    for node in nodes:
        if known := read_literal(node):
            yield from _iter_leaves(known[0])
        elif isinstance(node, (ast.List, ast.Tuple)):
            yield from _list_leaves(*node.elts)
        elif isinstance(node, ast.Call):
            yield f"({', '.join(_list_leaves(*_list_arguments(node)))})"
        else:
            yield ast.unparse(node)


def _list_arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(item.value for item in call.keywords)]


def _is_in_text(name: str, leaves: Sequence[str], text: str) -> bool:
    """Whether the text names each constant outside of calls of the function."""
    prose = re.sub(rf"\b{re.escape(name)}\([^()\n]*\)", "", text)
    wanted = [leaf.strip("'\"") for leaf in leaves if leaf not in _TRIVIAL]
    return all(re.search(rf"(?<!\w){re.escape(leaf)}(?!\w)", prose) for leaf in wanted)


def find_comparisons(tree: ast.AST) -> Iterator[Comparison]:
    """Yield the literals that the code compares expressions with, but no entries of tables."""
    compares = [item for item in ast.walk(tree) if isinstance(item, ast.Compare)]
    compares = [item for item in compares if not isinstance(item.ops[0], (ast.Is, ast.IsNot))]
    subjects = [ast.dump(item.left) for item in compares]
    for item in compares:
        if len(item.ops) == 1 and isinstance(item.ops[0], (ast.Eq, ast.NotEq)):
            stub = str(isinstance(item.ops[0], ast.NotEq))
            is_alone = subjects.count(ast.dump(item.left)) == 1
            yield from _compare(item, stub, item.comparators[0], is_alone)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Set, ast.Dict, ast.Tuple, ast.List)):
            elements = node.keys if isinstance(node, ast.Dict) else node.elts
            for element in filter(None, elements if len(elements) < _MIN_TABLE else ()):
                yield from _compare(element, "object", element, len(elements) == 1)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                for pattern in ast.walk(case.pattern):
                    if isinstance(pattern, ast.MatchValue):
                        value, is_alone = pattern.value, len(node.cases) < 3
                        yield from _compare(value, repr("\0"), value, is_alone)


def _compare(node: ast.expr, stub: str, literal: ast.expr, is_alone: bool) -> Iterator[Comparison]:
    if _is_literal(literal):
        yield Comparison(node, literal, stub, tuple(_list_leaves(literal)), is_alone)


def _is_literal(node: ast.expr) -> bool:
    """Whether an expression is a literal, or made of literals by calls."""
    if isinstance(node, ast.Call):
        return all(map(_is_literal, _list_arguments(node)))
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(map(_is_literal, node.elts))
    return bool(read_literal(node))


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
    item: Comparison,
    call: Input,
    calls: Sequence[Input],
    variants: Sequence[Input],
    run: Run,
) -> bool:
    near = [i for i in variants if i.name == call.name and _squeeze(i.text) != _squeeze(call.text)]
    asked = [call, *near[:: len(near) // _MAX_NEIGHBOURS + 1]]
    asked += [other for other in calls if other.text != call.text]
    changed = source.replace_node(item.node, f" {item.stub} ").apply_to(source.text)
    now, without = (
        [answer.observed for answer in run(code, asked)] for code in (source.text, changed)
    )
    return bool(near) and now[0] != without[0] and now[1:] == without[1:]


def _squeeze(text: str) -> str:
    """Return a text without white space, which a branch may strip."""
    return "".join(text.split())
