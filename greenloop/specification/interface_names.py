"""Names and signature lines of an interface, to be compared with the words of a text."""

import ast
from collections.abc import Iterator
from itertools import chain
from typing import Any

from greenloop.specification.examples import analyze_specification
from greenloop.specification.passages import list_words
from greenloop.syntax.nodes import Definition
from greenloop.syntax.parse import parse_or_empty


def list_signature_lines(specification: str) -> Iterator[str]:
    """Yield the lines of the signatures that a specification states, without docstrings."""
    tree = parse_or_empty(analyze_specification(specification).signatures)
    for node in ast.walk(tree):
        if isinstance(node, Definition):
            head = ast.get_docstring(node, clean=False) is not None
            node.body = node.body[head:] or [ast.Expr(ast.Constant(...))]
    yield from ast.unparse(tree).split("\n")


def find_names(interface: str, kinds: Any) -> Iterator[str]:
    """Yield the names in nodes of these kinds, as normalized words."""
    for node in ast.walk(parse_or_empty(interface)):
        if isinstance(node, kinds):
            names = (getattr(node, key, "") for key in ("name", "id", "arg", "attr"))
            yield from chain.from_iterable(map(list_words, filter(None, names)))
