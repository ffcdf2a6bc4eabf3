"""Public names: of the contract, of the module itself, or those that the tests use."""

from __future__ import annotations

from greenloop.grading.isolation.public_names import (
    find_methods,
    find_public_names,
    find_value_uses,
)

TESTS = [
    "import m\nfrom m import b, _c\n\ndef test_a():\n    assert m.a(m._d) == b.e\n",
    "import m as short, n\n\ndef test_z():\n    assert short.z == n.y\n",
]


def test_the_contract_comes_first() -> None:
    interface = "X = 1\ndef f(): ...\nclass C:\n    def g(self): ...\ndef _h(): ...\n"
    assert find_public_names("__all__ = ['k']", TESTS, "m", interface) == ("f", "C")


def test_then_what_the_module_lists() -> None:
    assert find_public_names("__all__ = ['k', 'l']", TESTS, "m")[:2] == ("k", "l")
    assert find_public_names("__all__ = ('k',)", TESTS, "m")[0] == "k"


def test_what_the_module_lists_takes_nothing_away() -> None:
    assert find_public_names("__all__ = ['b']", TESTS, "m") == ("b", "a", "z")


def test_else_what_the_tests_use() -> None:
    for code in ("", "__all__ = [n for n in ()]", "__all__ = names()", "def f(:"):
        assert find_public_names(code, TESTS, "m") == ("a", "b", "z")
    assert find_public_names("", ["def f(:"], "m") == ()


def test_methods_are_those_that_the_tests_name() -> None:
    code = "class C:\n    def e(self): ...\n    def _d(self): ...\n    def g(self): ...\ndef z(): ...\n"
    assert find_methods(code, TESTS) == {"C.e": "e"}
    assert find_methods("def f(:", TESTS) == {}


def test_protocols_without_code_need_no_test() -> None:
    code = "class P(Protocol[T]):\n    def f(self): ...\n\nclass Q(Protocol):\n    def f(self): return 1\n"
    assert find_public_names(code, ["from m import P, Q\n"], "m") == ("Q",)


def test_what_is_only_to_raise_is_no_use_of_a_value() -> None:
    tests = """
import pytest
from m import f as g, h

def test_a():
    with pytest.raises(ValueError):
        g(h())
    assert g(1).size == 2

class TestB:
    def test_c(self):
        with self.assertRaises(KeyError):
            h()
        with open("x") as file:
            h(file)
"""
    found = find_value_uses(tests, "m")
    assert found == {"test_a": {"f", "size"}, "TestB::test_c": {"h"}}
