"""The tests once more, with the code in a process of its own: does their green depend on being one?

Many suites cannot run so (`eval(repr(x))`, pickles of the code's objects, its source), so red there
is no verdict. It only says something where a test compares with a plain value, and the code gave
another one than beside its tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from greenloop.records import Expectation, Failure, Split, TestRun
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.isolation_mode import why_red
from greenloop.testsuite import TestFile

NEEDS_NAMESPACES = "needs namespaces"
# What the split itself raises; whatever else went wrong in such a run may have come of it.
_OF_THE_SPLIT = frozenset({"Apart", "Broken"})
# Tests that look at more than values may honestly see something else there: who still holds an
# object, where a file lies, how the code was loaded, how long something took.
_LOOKING = frozenset(
    "ast asyncio builtins contextvars ctypes dis doctest gc importlib inspect io linecache marshal multiprocessing "
    "os pathlib pickle resource runpy shelve shutil subprocess sys tempfile threading time "
    "tracemalloc types unittest weakref".split()
)
_ASKING = frozenset({"id", "open", "globals", "locals", "vars"})
# Members of enumerations are made anew there: their own `==` is not.
_MEMBER = re.compile(r"<\w+\.\w+: ")
_COMPARING = frozenset({"==", "!=", "<", "<=", ">", ">="})
_PATCHING = frozenset({"monkeypatch", "mocker"})


def split_run(
    box: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    *,
    before: TestRun,
    expected: Expectation | None,
) -> Split:
    """What becomes of a green run `before` where tests and code are two processes."""
    if not box.splits:
        return Split(reached=False, form="shared", why=NEEDS_NAMESPACES)
    awaited = expected or Expectation(ids=frozenset(before.outcomes), tolerated=before.tolerated)
    run = box.run_tests(code, tests, module=module, expected=awaited, form="split")
    if run.passed:
        return Split(reached=True, form="split", own_equality=run.own_equality)
    found = _answered_otherwise(run, tests)
    if found:  # twice: what happens once may be chance
        again = box.run_tests(code, tests, module=module, expected=awaited, form="split")
        found = found & _answered_otherwise(again, tests)
    return Split(reached=False, form="shared", why=why_red(run), only_beside=tuple(sorted(found)))


def _answered_otherwise(run: TestRun, tests: Sequence[TestFile]) -> frozenset[str]:
    """Tests that failed for nothing but a value."""
    if run.ending != "finished" or any(item.exception in _OF_THE_SPLIT for item in run.failures):
        return frozenset()
    if any(_looks_behind(item.code) for item in tests):
        return frozenset()
    wrong = {item.test for item in run.failures if _is_a_value(item)}
    others = {item.test for item in run.failures if not _is_a_value(item)}
    return frozenset(wrong - others)


def _is_a_value(failure: Failure) -> bool:
    compared = failure.assertion
    return (
        failure.phase == "call"
        and failure.exception == "AssertionError"
        and compared is not None
        and compared.operator in _COMPARING
        and not (_MEMBER.match(compared.left) or _MEMBER.match(compared.right))
    )


def _looks_behind(text: str) -> bool:
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return not _LOOKING.isdisjoint(_imported(nodes)) or any(map(_asks, nodes))


def _imported(nodes: Sequence[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (item.name.partition(".")[0] for item in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def _asks(node: ast.AST) -> bool:
    """Whether a name is taken away, so that an object may go, or more is asked or set than values.

    Also where a class is subscripted: there only its likeness is.
    """
    if isinstance(node, ast.arg):
        return node.arg in _PATCHING
    if isinstance(node, ast.Delete):
        return any(isinstance(target, ast.Name) for target in node.targets)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return node.value.id[:1].isupper() and isinstance(node.ctx, ast.Load)  # of a class
    return isinstance(node, ast.Name) and node.id in _ASKING
