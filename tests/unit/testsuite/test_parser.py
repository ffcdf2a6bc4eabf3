"""Parser of test files, and removal of a test."""

import ast

import pytest

from greenloop.testsuite.parser import (
    get_function_name,
    is_test_path,
    parse_test_functions,
    remove_tests,
)
from tests.support.programs import read_program, read_table

read = parse_test_functions

CODE = read_program(__file__, "CODE")
NAMES = {
    "test_cases": ("R1", "R12"),
    "test_async": ("R2",),
    "TestGroup::test_one": ("R3",),
    "TestGroup::test_two": (),
    "TestGroup::TestInner::test_deep": (),
    "Old::test_unit": ("R4",),
    "test_last": (),
}


def names(code: str) -> list[str]:
    return [item.name for item in read(code)]


def test_tests_are_found_in_order_with_their_requirements() -> None:
    assert {item.name: item.requirements for item in read(CODE)} == NAMES
    assert names(CODE) == list(NAMES)


@pytest.mark.parametrize(("path", "is_test"), read_table(__file__, "TEST_PATHS"))
def test_a_file_is_a_test_by_its_place_or_name(path: str, is_test: bool) -> None:
    assert is_test_path(path) is is_test


def test_names_of_a_project_are_known_by_what_asserts_and_is_not_called() -> None:
    code = "def same(a, b):\n    assert a == b\ndef it_is():\n    same(1, 1)\n    assert 1\n"
    assert [item.name for item in parse_test_functions(code)] == ["it_is"]
    inside = code.replace("def it", "class When:\n  def it").replace("\n    ", "\n     ")
    assert [item.name for item in parse_test_functions(inside)] == ["When::it_is"]


def test_source_includes_decorators_and_every_line() -> None:
    source = {item.name: item.source(CODE) for item in read(CODE)}
    assert source["test_cases"].startswith("@pytest.mark.parametrize(\n")
    assert source["test_cases"].endswith("    assert f(n)\n")
    assert source["TestGroup::test_one"].endswith("            1,\n        )\n")
    assert source["test_last"] == "def test_last():\n    pass\n"


@pytest.mark.parametrize("code", ["def test_(:", "\0", "-" * 100_000 + "1", ""])
def test_source_that_does_not_parse_has_no_tests(code: str) -> None:
    assert read(code) == ()


@pytest.mark.parametrize("name", NAMES)
def test_one_test_is_removed_and_others_are_unchanged(name: str) -> None:
    left = remove_tests(CODE, {name})
    ast.parse(left)
    assert names(left) == [item for item in NAMES if item != name]
    kept = {item.name: item.source(left) for item in read(left)}
    assert kept == {i.name: i.source(CODE) for i in read(CODE) if i.name != name}
    assert "LIMIT = 3  # stays" in left
    assert "def helper" in left


@pytest.mark.parametrize(("code", "name", "left"), read_table(__file__, "REMOVED"))
def test_a_test_is_removed_with_classes_that_have_no_other(code: str, name: str, left: str) -> None:
    assert remove_tests(code, {name}) == left


def test_class_keeps_nested_tests() -> None:
    code = (
        "class TestA:\n"
        "    class TestB:\n"
        "        def test_c(self): pass\n"
        "    def test_d(self): pass\n"
    )
    assert names(remove_tests(code, {"TestA::TestB::test_c"})) == ["TestA::test_d"]
    assert names(remove_tests(code, {"TestA::test_d"})) == ["TestA::TestB::test_c"]
    ast.parse(remove_tests(code, {"TestA::TestB::test_c"}))


@pytest.mark.parametrize(
    ("identifier", "name"),
    [
        ("test_m.py::test_a", "test_a"),
        ("test_m.py::test_a[1-x.py::y]", "test_a"),
        ("test_m.py::TestA::TestB::test_c[n]", "TestA::TestB::test_c"),
        ("sub/test_m.py::test_a", "test_a"),
        ("TestA::test_b", "TestA::test_b"),
        ("test_a", "test_a"),
    ],
)
def test_function_name_is_taken_from_a_node_id(identifier: str, name: str) -> None:
    assert get_function_name(identifier) == name


@pytest.mark.parametrize(("code", "skips"), read_table(__file__, "SKIPPING"))
def test_skipping_tests_are_found_by_marks_and_calls(code: str, skips: bool) -> None:
    (test,) = read(code)
    assert test.can_skip is skips


@pytest.mark.parametrize(
    ("code", "returns", "asserts"),
    [
        ("def test_a():\n    return f(2) == 4", True, False),
        ("async def test_a():\n    return await f(2) == 4", True, False),
        ("class TestA:\n    def test_a(self):\n        for n in s:\n            return n", True, False),
        ("def test_a():\n    assert f(2) == 4\n    return True", True, True),
        ("def test_a():\n    self.assertEqual(1, 2)\n    return f(1)", True, True),
        ("def test_a():\n    with pytest.raises(ValueError):\n        return f(1)", True, True),
        ("def test_a():\n    check_all(1)\n    return 1", True, True),
        ("def test_a():\n    if f(): return\n    return None", False, False),
        ("def test_a():\n    def g(): return 1\n    h(lambda: 2)\n    assert g() == 1", False, True),
    ],
)  # fmt: skip
def test_tests_that_return_a_value_are_found(code: str, returns: bool, asserts: bool) -> None:
    (test,) = read(code)
    assert (test.has_return_value, test.has_assertions, test.can_skip) == (returns, asserts, False)


def test_several_tests_are_removed_at_once() -> None:
    code = (
        "class TestA:\n    def test_a(self): ...\n\n    def test_b(self): ...\n\n"
        "class TestB:\n    def test_a(self): ...\n\n    def helper(self): ...\n\ndef test_c(): ...\n"
    )
    left = remove_tests(code, {"TestA::test_b", "TestB::test_a", "test_c", "test_absent"})
    assert left == "class TestA:\n    def test_a(self): ...\n\n\n\n"
