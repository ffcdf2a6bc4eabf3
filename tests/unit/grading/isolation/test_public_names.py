"""Public names: of the contract, of the module itself, or those that the tests use."""

from __future__ import annotations

from greenloop.grading.isolation.public_names import ModuleNames

TESTS = [
    "import m\nfrom m import b, _c\n\ndef test_a():\n    assert m.a(m._d) == b.e\n",
    "import m as short, n\n\ndef test_z():\n    assert short.z == n.y\n",
]


def test_the_contract_comes_first() -> None:
    interface = "X = 1\ndef f(): ...\nclass C:\n    def g(self): ...\ndef _h(): ...\n"
    assert ModuleNames("__all__ = ['k']", TESTS, "m", interface).find_public() == ("f", "C")


def test_then_what_the_module_lists() -> None:
    assert ModuleNames("__all__ = ['k', 'l']", TESTS, "m").find_public()[:2] == ("k", "l")
    assert ModuleNames("__all__ = ('k',)", TESTS, "m").find_public()[0] == "k"


def test_what_the_module_lists_takes_nothing_away() -> None:
    assert ModuleNames("__all__ = ['b']", TESTS, "m").find_public() == ("b", "a", "z")


def test_else_what_the_tests_use() -> None:
    for code in ("", "__all__ = [n for n in ()]", "__all__ = names()", "def f(:"):
        assert ModuleNames(code, TESTS, "m").find_public() == ("a", "b", "z")
    assert ModuleNames("", ["def f(:"], "m").find_public() == ()


def test_methods_are_those_that_the_tests_name() -> None:
    code = "class C:\n    def e(self): ...\n    def _d(self): ...\n    def g(self): ...\ndef z(): ...\n"
    assert ModuleNames(code, TESTS, "m").methods == {"C.e": "e"}
    assert ModuleNames("def f(:", TESTS, "m").methods == {}


def test_protocols_without_code_need_no_test() -> None:
    code = "class P(Protocol[T]):\n    def f(self): ...\n\nclass Q(Protocol):\n    def f(self): return 1\n"
    assert ModuleNames(code, ["from m import P, Q\n"], "m").find_public() == ("Q",)
