"""Tabs and spaces mixed in indentation: made one of both, where only one thing can be meant."""

from __future__ import annotations

import ast
from collections.abc import Callable

from greenloop.syntax.parse import parsed


def without_tab_mix(code: str, *, is_python2: bool = False) -> str:
    """The source with its indentation of one kind; as it was where that is not its trouble.

    A tab may have stood for 8 columns or for 4. It is taken as the one that gives a program, and the
    source stays as it is where both do and differ; Python 2 had 8. As few lines as may be are
    changed, none inside of texts.
    """
    if not _is_mixed(code):
        return code
    by_width = {width: _expanded(code, width) for width in (8, 4)}
    meanings = {
        width: ast.dump(tree)
        for width, text in by_width.items()
        if (tree := parsed(text)) is not None
    }
    if not meanings or (len(set(meanings.values())) > 1 and not is_python2):
        return code
    width = next(iter(meanings))
    tabbed = _tabbed(code, width)
    same = (tree := parsed(tabbed)) is not None and ast.dump(tree) == meanings[width]
    fewer = _changes(code, tabbed) < _changes(code, by_width[width])
    return tabbed if same and fewer else by_width[width]


def _is_mixed(code: str) -> bool:
    try:
        ast.parse(code)
    except (TabError, IndentationError):
        return "\t" in code
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return False


def _expanded(code: str, width: int) -> str:
    return _reindented(code, lambda indent: indent.expandtabs(width))


def _tabbed(code: str, width: int) -> str:
    def with_tabs(indent: str) -> str:
        tabs, rest = divmod(len(indent.expandtabs(width)), width)
        return "\t" * tabs + " " * rest

    return _reindented(code, with_tabs)


def _reindented(code: str, by: Callable[[str], str]) -> str:
    old = code.split("\n")
    new = [by(_indent(line)) + line.lstrip(" \t") if line.strip() else line for line in old]
    tree = parsed("\n".join(new))
    if tree is None:
        return "\n".join(new)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr)):
            for n in range(node.lineno, node.end_lineno or 0):
                new[n] = old[n]
    return "\n".join(new)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _changes(old: str, new: str) -> int:
    pairs = zip(old.split("\n"), new.split("\n"), strict=True)
    return sum(one != other for one, other in pairs)
