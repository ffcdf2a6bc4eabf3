"""The tests with the code in another process.

Many suites cannot run there (`eval(repr(x))`, pickles of the code's objects, its source), so a
failure is no verdict. Only one kind counts: a test that compares with a plain value, for which the
code returned another value than in the process of its tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from greenloop.grading.context import GradingContext
from greenloop.records import Expectation, Failure, IsolatedRun, TestRun
from greenloop.sandbox.work.tests import describe_failure
from greenloop.testsuite import TestFile

NEEDS_NAMESPACES = "needs namespaces"
# Errors of the isolation itself; other failures of the same run may follow from them.
_ISOLATION_ERRORS = frozenset({"Apart", "Broken"})
# Tests that look at more than values may honestly see a difference: references to an object, the
# place of a file, how the code was loaded, durations.
_INTROSPECTION_MODULES = frozenset(
    "ast asyncio builtins contextvars ctypes dis doctest gc importlib inspect io linecache marshal multiprocessing "
    "os pathlib pickle resource runpy shelve shutil subprocess sys tempfile threading time "
    "tracemalloc types unittest weakref".split()
)
_INTROSPECTION_NAMES = frozenset({"id", "open", "globals", "locals", "vars"})
# A member of an enumeration is a copy in the other process: it is not equal to the original.
_ENUM_MEMBER = re.compile(r"<\w+\.\w+: ")
_COMPARISON_OPERATORS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_PATCHING_FIXTURES = frozenset({"monkeypatch", "mocker"})


def measure(context: GradingContext) -> IsolatedRun:
    """Run the tests with the code in another process.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    if not context.sandbox.can_isolate:
        return IsolatedRun(reached=False, form="shared", why=NEEDS_NAMESPACES)
    first_run = context.first_run
    expected = context.expected or Expectation(
        ids=frozenset(first_run.outcomes), tolerated=first_run.tolerated
    )
    run = context.run_tests(expected=expected, form="split")
    if run.passed:
        return IsolatedRun(reached=True, form="split", own_equality=run.own_equality)
    differing = _find_differing_tests(run, context.tests)
    if differing:  # a second time: a single difference may be chance
        again = context.run_tests(expected=expected, form="split")
        differing &= _find_differing_tests(again, context.tests)
    why, names = describe_failure(run), tuple(sorted(differing))
    return IsolatedRun(reached=False, form="shared", why=why, only_beside=names)


def _find_differing_tests(run: TestRun, tests: Sequence[TestFile]) -> frozenset[str]:
    """Return the tests whose only failures are values."""
    if run.ending != "finished" or any(
        item.exception in _ISOLATION_ERRORS for item in run.failures
    ):
        return frozenset()
    if any(_has_introspection(item.code) for item in tests):
        return frozenset()
    wrong = {item.test for item in run.failures if _is_value_mismatch(item)}
    others = {item.test for item in run.failures if not _is_value_mismatch(item)}
    return frozenset(wrong - others)


def _is_value_mismatch(failure: Failure) -> bool:
    compared = failure.assertion
    return (
        failure.phase == "call"
        and failure.exception == "AssertionError"
        and compared is not None
        and compared.operator in _COMPARISON_OPERATORS
        and not (_ENUM_MEMBER.match(compared.left) or _ENUM_MEMBER.match(compared.right))
    )


def _has_introspection(text: str) -> bool:
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return not _INTROSPECTION_MODULES.isdisjoint(_find_imported_modules(nodes)) or any(
        map(_is_introspection, nodes)
    )


def _find_imported_modules(nodes: Sequence[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (item.name.partition(".")[0] for item in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def _is_introspection(node: ast.AST) -> bool:
    """Whether a node uses more than values: deletes or patches objects, or subscripts a class."""
    if isinstance(node, ast.arg):
        return node.arg in _PATCHING_FIXTURES
    if isinstance(node, ast.Delete):
        return any(isinstance(target, ast.Name) for target in node.targets)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return node.value.id[:1].isupper() and isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.Name) and node.id in _INTROSPECTION_NAMES
