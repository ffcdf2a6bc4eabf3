"""Repair of indentation that mixes tabs and spaces."""

from __future__ import annotations

import ast
from collections.abc import Callable

from greenloop.syntax.parse import parse_or_none


def fix_mixed_indentation(code: str) -> str:
    """Return the source with one kind of indentation; unchanged where mixing is not its error.

    A tab is 8 columns or 4, whichever gives a program; the source is returned unchanged where both
    do and the programs differ. As few lines as possible change, none of them within a string.
    """
    if not _has_mixed_indentation(code):
        return code
    by_width = {width: _expand_tabs(code, width) for width in (8, 4)}
    programs = {
        width: ast.dump(tree)
        for width, text in by_width.items()
        if (tree := parse_or_none(text)) is not None
    }
    if len(set(programs.values())) != 1:
        return code
    width = next(iter(programs))
    tabbed = _indent_with_tabs(code, width)
    same = (tree := parse_or_none(tabbed)) is not None and ast.dump(tree) == programs[width]
    fewer = _count_changed_lines(code, tabbed) < _count_changed_lines(code, by_width[width])
    return tabbed if same and fewer else by_width[width]


def _has_mixed_indentation(code: str) -> bool:
    try:
        ast.parse(code)
    except (TabError, IndentationError):
        return "\t" in code
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return False


def _expand_tabs(code: str, width: int) -> str:
    return _reindent(code, lambda indent: indent.expandtabs(width))


def _indent_with_tabs(code: str, width: int) -> str:
    def with_tabs(indent: str) -> str:
        tabs, rest = divmod(len(indent.expandtabs(width)), width)
        return "\t" * tabs + " " * rest

    return _reindent(code, with_tabs)


def _reindent(code: str, convert: Callable[[str], str]) -> str:
    old = code.split("\n")
    new = [
        convert(line[: len(line) - len(bare)]) + bare if (bare := line.lstrip(" \t")) else line
        for line in old
    ]
    tree = parse_or_none("\n".join(new))
    if tree is None:
        return "\n".join(new)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            for n in range(node.lineno, node.end_lineno or 0):
                new[n] = old[n]
    return "\n".join(new)


def _count_changed_lines(old: str, new: str) -> int:
    pairs = zip(old.split("\n"), new.split("\n"), strict=True)
    return sum(one != other for one, other in pairs)
