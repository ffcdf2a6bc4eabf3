"""Tests that a change weakens are named; honest changes of tests are not."""

from __future__ import annotations

import textwrap

import pytest

from greenloop.project.weakening import find_removed_names, find_weakened_tests
from tests.support.programs import read_program

BEFORE = read_program(__file__, "BEFORE")


def find_kinds(
    after: str, before: str = BEFORE, removed: frozenset[str] = frozenset()
) -> list[str]:
    old = {"tests/test_cart.py": textwrap.dedent(before)}
    new = {"tests/test_cart.py": textwrap.dedent(after)}
    return [item.kind for item in find_weakened_tests(old, new, removed)]


SABOTAGE = {
    "removed": ("def test_total():\n    assert total([1, 2]) == 3\n", "", "removed"),
    "no longer collected": ("def test_total", "def check_total", "removed"),
    "skipped": ("def test_total", "@pytest.mark.skip\ndef test_total", "skipped"),
    "expected to fail": ("def test_total", "@pytest.mark.xfail\ndef test_total", "skipped"),
    "skips itself": (
        "    assert total([1",
        "    pytest.skip('later')\n    assert total([1",
        "skipped",
    ),
    "under a condition": (
        "    assert total([1, 2]) == 3",
        "    if total([1, 2]) == 3:\n        assert total([1, 2]) == 3",
        "conditional",
    ),
    "returns early": ("    assert total([1", "    return\n    assert total([1", "fewer checks"),
    "emptied": ("    assert total([1, 2]) == 3", "    total([1, 2])", "fewer checks"),
    "always true": ("assert total([1, 2]) == 3", "assert True or total([1, 2]) == 3", "looser"),
    "not None": ("assert total([1, 2]) == 3", "assert total([1, 2]) is not None", "looser"),
    "only a type": ("assert total([1, 2]) == 3", "assert isinstance(total([1, 2]), int)", "looser"),
    "a bound": ("assert total([1, 2]) == 3", "assert total([1, 2]) >= 1", "looser"),
    "any exception": ('ValueError, match="negative"', "Exception", "looser"),
    "no message": (', match="negative"', "", "looser"),
    "caught": (
        "    assert total([1, 2]) == 3",
        "    try:\n        assert total([1, 2]) == 3\n    except AssertionError:\n        pass",
        "swallowed",
    ),
    "suppressed": (
        "    assert total([1, 2]) == 3",
        "    with contextlib.suppress(Exception):\n        assert total([1, 2]) == 3",
        "swallowed",
    ),
    "another value": ("total([1, 2]) == 3", "total([1, 2]) == 4", "expectation"),
    "a case less": (", ([7, 8], 15)", "", "fewer checks"),
    "a check less": ("    assert cart.total() == 4\n", "", "fewer checks"),
    "mocked": (
        "def test_total():\n",
        "def test_total(monkeypatch):\n    monkeypatch.setattr('cart.total', lambda x: 3)\n",
        "mocked",
    ),
}


@pytest.mark.parametrize("name", SABOTAGE)
def test_a_weakened_test_is_named(name: str) -> None:
    old, new, kind = SABOTAGE[name]
    assert old in BEFORE
    assert find_kinds(BEFORE.replace(old, new)) == [kind]


HONEST = {
    "nothing": ("", ""),
    "renamed": ("def test_total(", "def test_total_of_two("),
    "stricter": ("assert cart.size == 1", "assert cart.size == 1\n    assert cart.items == [4]"),
    "a type first": (
        "    assert total([1",
        "    assert isinstance(total([1]), int)\n    assert total([1",
    ),
    "parametrized": (
        "def test_total():\n    assert total([1, 2]) == 3",
        "@pytest.mark.parametrize(('p', 'w'), [([1, 2], 3), ([], 0)])\n"
        "def test_totals(p, w):\n    assert total(p) == w",
    ),
    "a case more": ("([5], 5)", "([5], 5), ([6], 6)"),
    "put into a class": (
        "def test_total():\n    assert total([1, 2]) == 3",
        "class TestTotal:\n    def test_total(self):\n        assert total([1, 2]) == 3",
    ),
    "put into a base class": (
        "def test_total():\n    assert total([1, 2]) == 3",
        "class Contract:\n    def test_total(self):\n        assert total([1, 2]) == 3\n\n"
        "class TestOne(Contract):\n    pass",
    ),
    "merged": (
        "    assert cart.size == 1\n    assert cart.total() == 4\n",
        "    assert (cart.size, cart.total()) == (1, 4)\n",
    ),
    "skipped on a platform": (
        "def test_total",
        "@pytest.mark.skipif(sys.platform == 'win32', reason='POSIX paths')\ndef test_total",
    ),
    "a local name": ("assert total([1, 2]) == 3", "result = total([1, 2])\n    assert result == 3"),
    "a comment": ("    cart = Cart()", '    """A cart."""\n    # empty\n    cart = Cart()'),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_change_of_tests_is_not_named(name: str) -> None:
    old, new = HONEST[name]
    assert old in BEFORE
    assert find_kinds(BEFORE.replace(old, new)) == []


def test_a_test_that_is_removed_with_what_it_tested_is_not_named() -> None:
    code = "def total(xs): ...\ndef tax(x): ...\n"
    removed = find_removed_names({"cart.py": code}, {"cart.py": "def total(xs): ...\n"})
    before = BEFORE + "\ndef test_tax():\n    assert tax(1) == 2\n"
    assert find_kinds(BEFORE, before, removed) == []
    assert find_kinds(BEFORE, before) == ["removed"]


def test_a_moved_test_is_compared_where_it_stands_now() -> None:
    old = {"test_a.py": "def test_x():\n    assert f(1) == 2\n"}
    new = {"test_b.py": "def test_x():\n    assert f(1)\n"}
    found = find_weakened_tests(old, new)
    assert [item.says for item in found] == [
        "test_b.py:2: test_x asserts less than before: `f(1) == 2` is now `f(1)`"
    ]


def test_a_loosened_helper_is_named() -> None:
    before = "def check(x):\n    assert x == 1\n\ndef test_a():\n    check(f())\n"
    assert find_kinds(before.replace("x == 1", "x"), before) == ["looser"]
