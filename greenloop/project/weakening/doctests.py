"""Doctest examples as comparable tests: the expected output of each example is its check."""

import ast
import doctest
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from greenloop.project.weakening.checks import Check
from greenloop.project.weakening.conditions.strength import Strength
from greenloop.project.weakening.names import list_names, list_values
from greenloop.project.weakening.tests import ComparedTest, read_tests
from greenloop.syntax.nodes import Definition
from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.parser import is_test_path

EXAMPLE = "example in the docstring"
_RUNNING = re.compile(rb"doctest-(modules|glob)|\bdoctest\.|\bDocTest|import doctest|-m doctest")
_SETTING = re.compile(r"(^|/)[^/]*\.(toml|cfg|ini|yaml|yml)$|(^|/)(Makefile|noxfile\.py)$")


def are_examples_run(files: Mapping[str, bytes]) -> bool:
    """Return whether settings or tests of a project run doctests."""
    named = (path for path in files if _SETTING.search(path) or is_test_path(path))
    return any(_RUNNING.search(files[path]) for path in named)


def read_all(texts: Mapping[str, str]) -> dict[str, ComparedTest]:
    """Return the tests of test files, and the examples of other files, by node id."""
    tests = {path: text for path, text in texts.items() if is_test_path(path)}
    return {**read_tests(tests), **read_examples(texts)}


def read_examples(texts: Mapping[str, str]) -> dict[str, ComparedTest]:
    """Return docstrings of code, and whole documents, that have examples, as tests by node id."""
    having = {path: text for path, text in texts.items() if ">>>" in text}
    code = {path: text for path, text in having.items() if path.endswith(".py")}
    found = [
        item
        for path, text in code.items()
        if not is_test_path(path)
        for item in _read(path, parse_or_empty(text), "")
    ]
    for path in having.keys() - code.keys():
        found += _read_text(f"{path}::{EXAMPLE}", having[path], 0)
    return {item.test: item for item in found}


def _read(path: str, node: Definition | ast.Module, name: str) -> Iterator[ComparedTest]:
    line = 1 if isinstance(node, ast.Module) else node.lineno
    yield from _read_text(f"{path}::{name}{EXAMPLE}", ast.get_docstring(node) or "", line)
    for item in node.body:
        if isinstance(item, Definition):
            yield from _read(path, item, f"{name}{item.name}::")


def _read_text(test: str, text: str, line: int) -> Iterator[ComparedTest]:
    examples = [item for item in split_examples(text) if isinstance(item, doctest.Example)]
    if checks := tuple(check for item in examples for check in _read_example(item, line)):
        yield ComparedTest(
            test=test,
            line=line,
            body="\n".join(ast.unparse(parse_or_empty(item.source)) for item in examples),
            checks=checks,
            values=frozenset[str]().union(*(check.values for check in checks)),
            names=frozenset[str]().union(*(check.names for check in checks)),
        )


def split_examples(text: str) -> list[str | doctest.Example]:
    """Return the texts and examples of a docstring in order."""
    with suppress(ValueError):  # doctest cannot parse the examples
        return doctest.DocTestParser().parse(text)
    return [text]


def _read_example(item: doctest.Example, line: int) -> Iterator[Check]:
    tree = parse_or_empty(item.source)
    if not item.want or not tree.body:
        return
    source, want = ast.unparse(tree), " ".join(item.want.split())
    is_skipped = item.options.get(doctest.SKIP, False)
    is_open = "..." in want and not item.exc_msg
    yield Check(
        f"{source} == {want}",
        source,
        Strength.NOTHING if want == "..." else Strength.PART if is_open else Strength.WHOLE,
        line + item.lineno + 1,
        shown=f"{source} == {want}",
        values=list_values(tree) | {want},
        names=list_names(tree),
        skip="doctest: +SKIP" if is_skipped else "",
    )
