"""What prompts of a change show of a project: files, signatures, and tests that concern them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from greenloop.records import Baseline
from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite.parser import is_test_path, parse_test_functions
from greenloop.tools.change_toolkit import ShownFile, ShownTest

MAX_FILES_CHARS = 28_000  # of all files of a prompt: about 7,000 tokens
_MAX_TESTS_CHARS = 9_000
_MAX_STYLE_CHARS = 5_000  # of one test file
_STYLE_FILES = 2
_MIN_BODY_LINES = 6  # a shorter body is never left out
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")


def list_words(*texts: str) -> frozenset[str]:
    """Return the identifiers and words of texts, in lower case."""
    return frozenset(word.lower() for text in texts for word in _WORD.findall(text))


def show_files(
    texts: Mapping[str, str],
    paths: Sequence[str],
    words: Collection[str],
    limit: int = MAX_FILES_CHARS,
) -> list[ShownFile]:
    """Return files as prompts show them: whole, or where they are too large without some bodies.

    Functions that have one of the `words` in their names keep their bodies.
    """
    found = [path for path in paths if path in texts]
    is_large = sum(len(texts[path]) for path in found) > limit
    share = limit // max(len(found), 1)
    return [
        (
            _leave_bodies_out(path, texts[path], words)
            if is_large and len(texts[path]) > share
            else ShownFile(path, texts[path])
        )
        for path in found
    ]


def _leave_bodies_out(path: str, text: str, words: Collection[str]) -> ShownFile:
    tree, lines, left_out = parse_or_none(text), text.split("\n"), 0
    for node in sorted(_list_long_functions(tree), key=lambda item: -item.lineno):
        if list_words(node.name.replace("_", " "), node.name) & set(words):
            continue
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        first, last = body[0].lineno, node.end_lineno or node.lineno
        mark = f"{' ' * body[0].col_offset}...  # {last - first + 1} lines are left out"
        lines[first - 1 : last] = [mark]
        left_out += 1
    return ShownFile(path, "\n".join(lines), left_out)


def _list_long_functions(
    tree: ast.Module | None,
) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield functions and methods, without those inside of functions, that have long bodies."""
    waiting: list[ast.AST] = [tree] if tree else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if body and (node.end_lineno or 0) - body[0].lineno >= _MIN_BODY_LINES:
                yield node
        else:
            waiting.extend(ast.iter_child_nodes(node))


def select_tests(
    texts: Mapping[str, str], baseline: Baseline, paths: Iterable[str], words: Collection[str]
) -> tuple[list[ShownTest], int]:
    """Return the locked tests that run the files, most similar to the wish first, and a rest.

    Those that share no word with the wish are not shown.
    """
    mapped = {
        test.partition("[")[0]
        for path in paths
        for tests in baseline.lines.get(path, {}).values()
        for test in tests
    }
    ranked = sorted(
        (
            (-len(list_words(item.source) & set(words)), item.id, item)
            for item in _read(texts, mapped)
        ),
        key=lambda entry: entry[:2],
    )
    shown: list[ShownTest] = []
    for score, _, item in ranked:
        used = sum(len(other.source) for other in shown)
        if score == 0 or used + len(item.source) > _MAX_TESTS_CHARS:
            break
        shown.append(item)
    return shown, len(ranked) - len(shown)


def _read(texts: Mapping[str, str], ids: Collection[str]) -> Iterator[ShownTest]:
    for path in sorted({item.partition("::")[0] for item in ids}):
        for function in parse_test_functions(texts.get(path, "")):
            name = f"{path}::{function.name}"
            if name in ids:
                yield ShownTest(name, function.source(texts[path]))


def select_style_files(texts: Mapping[str, str], words: Collection[str]) -> list[ShownFile]:
    """Return two test files of the project as examples of its style, cut to a bounded length.

    The one that shares most words with the change comes first; conftest files follow.
    """
    tests = {path: text for path, text in texts.items() if is_test_path(path) and text.strip()}
    files = [path for path in tests if not path.endswith(("conftest.py", "__init__.py"))]
    ranked = sorted(files, key=lambda path: (-len(list_words(tests[path]) & set(words)), path))
    shared = [path for path in sorted(tests) if path.endswith("conftest.py")][:1]
    return [ShownFile(path, _truncate(tests[path])) for path in (*ranked[:_STYLE_FILES], *shared)]


def _truncate(text: str) -> str:
    if len(text) <= _MAX_STYLE_CHARS:
        return text
    whole = text[:_MAX_STYLE_CHARS].rpartition("\n")[0]
    return f"{whole}\n# … {text.count(chr(10), len(whole))} more lines\n"
