"""Words and texts of a change: of its documents, docstrings, tests and string literals."""

import ast
import builtins
import re
from collections.abc import Iterable, Iterator

from greenloop.project.weakening.doctests import split_examples
from greenloop.project.weakening.tests import ComparedTest, list_called
from greenloop.syntax.nodes import Definition, list_lines
from greenloop.syntax.parse import parse_or_empty

WORD = re.compile(r"\w+")
MIN_WORD = 3
_BEGINNING = 5  # words with the same first letters count as equal
_CODE = re.compile(r"`+([^`]+)`+")
_ENDING = re.compile(r"([.:!?)]\s*|^\s*)$")
_ITEM = re.compile(r"\s*([-+*#=~^.]|\d+[.)])")
_PLAIN = frozenset(
    "assert test tests with when should that does from pytest raises approx true false none".split()
)


def list_test_words(item: ComparedTest) -> set[str]:
    """Return the words of a test's name, and the names of what it calls and of keyword arguments."""
    keywords = (name for name in item.names if name.endswith("="))
    called = list_called(item) - {*dir(builtins)}
    return list_words(item.name.removeprefix("test_"), *called, *keywords)


def list_words(*texts: str) -> set[str]:
    """Return lower-case prefixes of words and their parts: "shortened" matches `shorten`."""
    whole = {word.lower() for text in texts for word in WORD.findall(text)}
    words = {*whole, *(part for word in whole for part in word.split("_"))} - _PLAIN
    words = {word for word in words if len(word) > MIN_WORD and not word.isdigit()}
    return {word.rstrip("s")[:_BEGINNING] for word in words}


def list_code(text: str) -> set[str]:
    """Return the code in backticks that is more than a word, without empty parentheses."""
    found = (item.strip().removesuffix("()") for item in _CODE.findall(text))
    return {item for item in found if len(item) >= MIN_WORD and not WORD.fullmatch(item)}


def join_sentences(lines: Iterable[str]) -> list[str]:
    """Return lines joined with the following ones as long as no sentence ends."""
    found = [""]
    for line in lines:
        is_new = _ENDING.search(found[-1]) or not line.strip() or _ITEM.match(line)
        found[-1:] = [found[-1], line] if is_new else [f"{found[-1]} {line.strip()}"]
    return found


def list_changed_docstrings(before: str, after: str, without_examples: bool) -> Iterator[str]:
    """Yield the name and the new lines of each changed docstring."""
    old, new = (_list_docstrings(text, without_examples) for text in (before, after))
    for name, text in old.items():
        if new.get(name) and new[name] != text:
            yield name
            yield from (line for line in new[name].splitlines() if line not in text.splitlines())


def _list_docstrings(text: str, without_examples: bool) -> dict[str, str]:
    tree = parse_or_empty(text)
    named = {item.name: item for item in ast.walk(tree) if isinstance(item, Definition)}
    whole = {name: ast.get_docstring(item) or "" for name, item in {**named, "": tree}.items()}
    if not without_examples:
        return whole
    parts = ((name, split_examples(text)) for name, text in whole.items())
    return {name: "".join(i for i in some if isinstance(i, str)) for name, some in parts}


def list_docstring_lines(code: str) -> set[int]:
    """Return the lines of docstrings, whose examples say nothing about the code."""
    texts = (node for node in ast.walk(parse_or_empty(code)) if isinstance(node, ast.Expr))
    found = (node for node in texts if isinstance(node.value, ast.Constant))
    return {line for node in found for line in list_lines(node)}


def list_texts(code: str) -> Iterator[tuple[str, int]]:
    """Yield the string literals in code with their lines; bytes as their literal."""
    for node in ast.walk(parse_or_empty(code)):
        match node:
            case ast.Constant(value=str() | bytes() as text) if len(text) >= MIN_WORD:
                yield text if isinstance(text, str) else repr(text), node.lineno
