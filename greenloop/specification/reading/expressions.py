"""Calls in a text: where they end, and whether they can be executed as written."""

import ast
import builtins
import re

from greenloop.syntax.nodes import bound_names
from greenloop.syntax.parse import PARSE_ERRORS, parse_or_empty

_MAX_CHARS = 2000
_TOKEN = re.compile(
    r"\"\"\".{0,2000}?\"\"\"|'''.{0,2000}?'''"
    r"|\"(?:[^\"\\\n]|\\.){0,2000}\"|'(?:[^'\\\n]|\\.){0,2000}'|[()\[\]{}]|\n[ \t]*\n",
    re.DOTALL,
)
_MEMBER = re.compile(r"\.[A-Za-z_]\w{0,99}(\()?|\[")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_EXPRESSIONS = (
    ast.Expression, ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Call, ast.keyword,
    ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.BinOp, ast.UnaryOp, ast.Compare,
    ast.BoolOp, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context,
)  # fmt: skip


def find_closing(text: str, start: int) -> int | None:
    """Return the end of the bracket or string that begins at `start` (a prefix like `b` before it).

    None where it is not closed within a paragraph and 2000 characters.
    """
    opened: list[str] = []
    for token in _TOKEN.finditer(text, start, start + _MAX_CHARS):
        first = token[0][0]
        if first in "([{":
            opened.append(first)
        elif first == "\n" or (first in _PAIRS and (not opened or opened.pop() != _PAIRS[first])):
            return None
        if not opened:
            return token.end()
    return None


def find_call_end(text: str, bracket: int) -> int | None:
    """Return the end of a call whose arguments open at `bracket`, with members behind it."""
    end = find_closing(text, bracket)
    while end and (member := _MEMBER.match(text, end)):
        is_plain = member[1] is None and member[0] != "["
        following = member.end() if is_plain else find_closing(text, member.end() - 1)
        if following is None:
            break
        end = following
    return end


def is_closed(source: str) -> bool:
    """Return whether an expression is made of literals and calls only, so that it can be run."""
    try:
        return is_closed_node(ast.parse(source, mode="eval"))
    except PARSE_ERRORS:
        return False


def is_closed_node(tree: ast.AST) -> bool:
    """Return whether all names of a node are called functions, and it has no ellipsis."""
    nodes = list(ast.walk(tree))
    called = {id(item.func) for item in nodes if isinstance(item, ast.Call)}
    return all(
        isinstance(item, _EXPRESSIONS)
        and (not isinstance(item, ast.Name) or id(item) in called)
        and not (isinstance(item, ast.Constant) and item.value is ...)
        for item in nodes
    )


def find_free_names(source: str) -> frozenset[str]:
    """Return the names that a piece of source uses and neither defines nor has as builtins."""
    nodes = list(ast.walk(parse_or_empty(source)))
    used = {item.id for item in nodes if isinstance(item, ast.Name)}
    return frozenset(used - bound_names(nodes) - set(dir(builtins)))
