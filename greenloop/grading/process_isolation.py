"""The tests once more, with the code in a process of its own: does their green depend on being one?

Many suites cannot run so (`eval(repr(x))`, pickles of the code's objects, its source), so red there
is no verdict. It only says something where a test compares with a plain value, and the code gave
another one than beside its tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from greenloop.records import Expectation, Failure, IsolatedRun, TestRun
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.tests import describe_failure
from greenloop.testsuite import TestFile

NEEDS_NAMESPACES = "needs namespaces"
# What the split itself raises; whatever else went wrong in such a run may have come of it.
_ISOLATION_ERRORS = frozenset({"Apart", "Broken"})
# Tests that look at more than values may honestly see something else there: who still holds an
# object, where a file lies, how the code was loaded, how long something took.
_INTROSPECTION_MODULES = frozenset(
    "ast asyncio builtins contextvars ctypes dis doctest gc importlib inspect io linecache marshal multiprocessing "
    "os pathlib pickle resource runpy shelve shutil subprocess sys tempfile threading time "
    "tracemalloc types unittest weakref".split()
)
_INTROSPECTION_NAMES = frozenset({"id", "open", "globals", "locals", "vars"})
# Members of enumerations are made anew there: their own `==` is not.
_ENUM_MEMBER = re.compile(r"<\w+\.\w+: ")
_COMPARISON_OPERATORS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_PATCHING_FIXTURES = frozenset({"monkeypatch", "mocker"})


def run_isolated(
    sandbox: Sandbox,
    code: str,
    tests: Sequence[TestFile],
    module: str,
    *,
    first_run: TestRun,
    expected: Expectation | None,
) -> IsolatedRun:
    """What becomes of a green run `before` where tests and code are two processes."""
    if not sandbox.can_isolate:
        return IsolatedRun(reached=False, form="shared", why=NEEDS_NAMESPACES)
    awaited = expected or Expectation(
        ids=frozenset(first_run.outcomes), tolerated=first_run.tolerated
    )
    run = sandbox.run_tests(code, tests, module=module, expected=awaited, form="split")
    if run.passed:
        return IsolatedRun(reached=True, form="split", own_equality=run.own_equality)
    found = _find_differing_tests(run, tests)
    if found:  # twice: what happens once may be chance
        again = sandbox.run_tests(code, tests, module=module, expected=awaited, form="split")
        found = found & _find_differing_tests(again, tests)
    return IsolatedRun(
        reached=False, form="shared", why=describe_failure(run), only_beside=tuple(sorted(found))
    )


def _find_differing_tests(run: TestRun, tests: Sequence[TestFile]) -> frozenset[str]:
    """Tests that failed for nothing but a value."""
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
    """Whether a name is taken away, so that an object may go, or more is asked or set than values.

    Also where a class is subscripted: there only its likeness is.
    """
    if isinstance(node, ast.arg):
        return node.arg in _PATCHING_FIXTURES
    if isinstance(node, ast.Delete):
        return any(isinstance(target, ast.Name) for target in node.targets)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return node.value.id[:1].isupper() and isinstance(node.ctx, ast.Load)  # of a class
    return isinstance(node, ast.Name) and node.id in _INTROSPECTION_NAMES
