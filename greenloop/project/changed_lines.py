"""Lines that differ between two versions of a file."""

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

from greenloop.syntax.nodes import Definition, Function
from greenloop.syntax.parse import parse_or_none
from greenloop.syntax.source import LINE_END

_MANY_LINES = 5000  # above this, difflib ignores frequent lines (`autojunk`) to save time


def find_changed_lines(before: str, after: str) -> tuple[set[int], set[int]]:
    """Return the numbers of changed lines in the old and in the new version.

    The lines around an insertion count as changed in the old version, those around a deletion in
    the new one.
    """
    sides = LINE_END.split(before), LINE_END.split(after)
    old: set[int] = set()
    new: set[int] = set()
    is_long = min(map(len, sides)) > _MANY_LINES
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, *sides, autojunk=is_long).get_opcodes():
        if tag != "equal":
            old.update(range(i1 + 1, i2 + 1) or (i1, i1 + 1))
            new.update(range(j1 + 1, j2 + 1) or (j1, j1 + 1))
    return old, new


def has_same_statements(before: str, after: str) -> bool:
    """Return whether two texts differ only in docstrings, comments and formatting."""
    trees = parse_or_none(before), parse_or_none(after)
    first, second = (ast.dump(_drop_docstrings(tree)) if tree else "" for tree in trees)
    return bool(first) and first == second


def _drop_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, Definition | ast.Module) and ast.get_docstring(node, False) is not None:
            node.body[:1] = [] if node.body[1:] or node is tree else [ast.Pass()]
    return tree


def find_untouched_lines(before: str, after: str) -> set[int]:
    """Return the lines of functions without changes, and of heads with changed annotations only.

    `find_changed_lines` counts such lines as changed beside a deletion, or after an insertion.
    """
    old = {(name, text) for name, text, _ in _list_parts(before)}
    found = ((name, text) in old and lines for name, text, lines in _list_parts(after))
    return {line for lines in found if lines for line in lines}


def _list_parts(code: str) -> Iterator[tuple[str, str, range]]:
    """Yield each function as (name, dump, lines), and then its head without annotations."""
    for node in ast.walk(parse_or_none(code) or ast.Module([], [])):
        if isinstance(node, Function):
            first = min(item.lineno for item in (node, *node.decorator_list))
            last = node.end_lineno or first
            yield node.name, ast.dump(node), range(first, last + 1)
            inner = node.body if node.body[0].lineno == node.lineno else ()  # on the head's line
            head = _dump_head(node) + "".join(map(ast.dump, inner))
            yield node.name, head, range(first, max(node.body[0].lineno, node.lineno + 1))


def _dump_head(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    node.returns = None
    for item in ast.walk(node.args):
        if isinstance(item, ast.arg):
            item.annotation = None
    return f"{''.join(map(ast.dump, node.decorator_list))} {ast.dump(node.args)}"
