"""Tests that a change removes, or lets skip."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from greenloop.syntax.parse import parse_or_empty
from greenloop.testsuite.parser import iter_tests, name_test, parse_test_functions


def find_removed_tests(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the node ids of tests in files of `before` that `after` does not have.

    A test that has the same name or the same body in another place was moved or renamed.
    """
    old, new = _list_bodies(before), _list_bodies(after)
    added = {test: body for test, body in new.items() if test not in old}
    removed = []
    for test, body in old.items():
        if test not in new and (same := _find_same(test, body, added)):
            del added[same]
        elif test not in new:
            removed.append(test)
    return removed


def find_skipping_tests(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the node ids of tests that may skip or xfail now, and did not before."""
    old = dict(_list_can_skip(before))
    return [test for test, skips in _list_can_skip(after) if skips and old.get(test) is False]


def _list_bodies(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the body of each test as text, by node id."""
    return {
        f"{path}::{name_test(test, classes)}": "\n".join(map(ast.unparse, test.body))
        for path, text in texts.items()
        for test, classes in iter_tests(parse_or_empty(text).body)
    }


def _find_same(test: str, body: str, added: Mapping[str, str]) -> str:
    name = test.rpartition("::")[2]
    found = (i for i, other in added.items() if i.rpartition("::")[2] == name or other == body)
    return next(found, "")


def _list_can_skip(texts: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    for path, text in texts.items():
        for item in parse_test_functions(text):
            yield f"{path}::{item.name}", item.can_skip
