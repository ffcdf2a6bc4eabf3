"""Names, defaults and signature lines of an interface, as the words of a text are compared."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from itertools import chain
from typing import Any

from greenloop.specification.examples import analyze_specification
from greenloop.specification.passages import PassageIndex, list_words
from greenloop.specification.word_lists import OBLIGATIONS
from greenloop.syntax.nodes import Definition
from greenloop.syntax.parse import parse_or_empty

_MAX_WORDS_BEFORE = 8
_REST_OF_SIGNATURE = re.compile(r"\([^()`\n]{0,300}\)(?:[ \t]*(?:->|→)[ \t]*[^`\n:,]{0,100}(?=`))?")


def list_signature_lines(specification: str) -> Iterator[str]:
    """Yield the lines of the signatures that a specification states, without docstrings."""
    tree = parse_or_empty(analyze_specification(specification).signatures)
    for node in ast.walk(tree):
        if isinstance(node, Definition):
            head = ast.get_docstring(node, clean=False) is not None
            node.body = node.body[head:] or [ast.Expr(ast.Constant(...))]
    yield from ast.unparse(tree).split("\n")


def find_introductions(index: PassageIndex, defined: Collection[str]) -> Iterator[range]:
    """Yield the words of a sentence up to the end of its first signature: ``Write `f(n: int)` ``.

    In any language they ask for what the interface has, unless they oblige or forbid.
    """
    for block in index.blocks:
        for number in range(block.first, min(block.first + _MAX_WORDS_BEFORE, block.end)):
            word = index.words[number]
            if word.text in OBLIGATIONS:
                break
            if word.text in defined and index.text[word.end : word.end + 1] == "(":
                found = _REST_OF_SIGNATURE.match(index.text, word.end)
                stop = found.end() if found else word.end
                rest = range(number, block.end)
                yield range(block.first, max(n + 1 for n in rest if index.words[n].start < stop))
                break


def list_defaults(interface: str) -> Iterator[str]:
    for node in ast.walk(parse_or_empty(interface)):
        if isinstance(node, ast.arguments):
            for value in (*node.defaults, *filter(None, node.kw_defaults)):
                yield from list_words(ast.unparse(value))


def find_names(interface: str, kinds: Any) -> Iterator[str]:
    """Yield names of an interface, as words are compared."""
    for node in ast.walk(parse_or_empty(interface)):
        if isinstance(node, kinds):
            names = (getattr(node, key, "") for key in ("name", "id", "arg", "attr"))
            yield from chain.from_iterable(map(list_words, filter(None, names)))
