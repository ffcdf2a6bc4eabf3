"""Each passing assertion fails once it is changed; the rest of the text is unchanged."""

import unittest
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.grading.assertion_mutation.candidates import (
    AssertionMutant,
    Certainty,
    MutableTestFile,
)
from greenloop.grading.assertion_mutation.forgery import find_forgeries
from tests.support.programs import read_table


class Point:
    def __init__(self, x: int) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and self.x == other.x

    __hash__ = object.__hash__


def raising(error: BaseException) -> None:
    raise error


NAMES: dict[str, Any] = {
    "pytest": pytest,
    "f": lambda value: value,
    "fail": raising,
    "Point": Point,
    "a": 3,
    "b": 3,
    "text": "abc",
    "items": [1, 2, 3],
}
PASSING = read_table(__file__, "PASSING")


@pytest.mark.parametrize("assertion", PASSING)
def test_a_passing_assertion_fails_once_it_is_changed(assertion: str) -> None:
    code = f"def test_a():\n    {assertion}\n"
    run(code)
    edits = edits_of(code)
    assert edits
    for edit in edits:
        with pytest.raises(
            (AssertionError, ValueError, LookupError, BufferError, pytest.fail.Exception)
        ):
            run(apply_change(code, edit))
        if edit.change.opposite is not None:
            text = MutableTestFile(code, "m").source
            with pytest.raises(AssertionError):
                run(text.apply_edits((edit.change.opposite,)))


UNITTEST = read_table(__file__, "UNITTEST")


@pytest.mark.parametrize("assertion", UNITTEST)
def test_methods_of_unittest_fail_once_they_are_changed(assertion: str) -> None:
    code = f"class TestA(TestCase):\n    def test_a(self):\n        {assertion}\n"
    run(code)
    edits = edits_of(code, "TestA::test_a")
    assert edits
    for edit in edits:
        with pytest.raises((AssertionError, ValueError)):
            run(apply_change(code, edit))


def edits_of(code: str, test: str = "test_a") -> tuple[AssertionMutant, ...]:
    return MutableTestFile(code, "m").mutants[test]


def apply_change(code: str, edit: AssertionMutant) -> str:
    return MutableTestFile(code, "m").source.apply_edits(edit.change.edits)


def run(code: str) -> None:
    names = {**NAMES, "TestCase": unittest.TestCase}
    exec(compile(code, "test", "exec"), names)
    if "TestA" in names:
        names["TestA"]("test_a").test_a()
    else:
        names["test_a"]()


def test_only_a_parameter_that_is_nothing_but_expected_is_changed() -> None:
    decorated = "@pytest.mark.parametrize('x, y', [(1, 2), pytest.param(3, 4, id='a')])\n"
    own = MutableTestFile(
        "from m import f\n" + decorated + "def test_a(x, y):\n    assert f(x) == y\n", "m"
    )
    (edit,) = own.mutants["test_a"]
    assert "[(1, 3), pytest.param(3, 5, id='a')]" in own.source.apply_edits(edit.change.edits)
    for body in ("assert f(y) == y", "f(y)\n    assert f(x) == y"):
        both = MutableTestFile(f"from m import f\n{decorated}def test_a(x, y):\n    {body}\n", "m")
        (edit,) = both.mutants["test_a"]
        text = both.source.apply_edits(edit.change.edits)
        assert decorated in text
        assert "== (y, 0)" in text


@pytest.mark.parametrize(
    ("tests", "swapped"),
    read_table(__file__, "swaps"),
)
def test_an_answer_is_swapped_for_that_of_another_value(tests: str, swapped: str | None) -> None:
    own = MutableTestFile(f"from m import f\n{tests}", "m")
    found = own.swap_answer("test_a", own.answers)
    assert (found is None) == (swapped is None)
    if found is not None and swapped is not None:
        assert swapped in own.source.apply_edits(found.change.edits)


@pytest.mark.parametrize(
    ("other", "swapped"),
    [
        ("with pytest.raises(m.Full):", "raises(m.Full)"),
        ("with pytest.raises(Base):", None),
        ("with pytest.raises(ValueError):", None),
        ("with pytest.raises(Empty):", None),
    ],
)
def test_an_exception_is_swapped_for_an_unrelated_one_of_the_module(
    other: str, swapped: str | None
) -> None:
    head = "import m\nimport pytest\nfrom m import Base, Empty, f\n"
    one, two = "with pytest.raises(Empty):\n        f(1)", f"{other}\n        f(2)"
    text = f"{head}\ndef test_a():\n    {one}\n\ndef test_b():\n    {two}\n"
    own = MutableTestFile(text, "m")
    found = own.swap_exception("test_a", lambda a, b: "Base" in (a, b) or a == b)
    assert (found is None) == (swapped is None)
    if found is not None and swapped is not None:
        assert swapped in own.source.apply_edits(found.change.edits)


@pytest.mark.parametrize(
    ("body", "sure"),
    [
        ("assert f(1) == 1", Certainty.CERTAIN),
        ("for i in [1]:\n        assert f(i) == i", Certainty.CERTAIN),
        ("for i in f([]):\n        assert f(i) == i", Certainty.LIKELY),
        ("if f(1):\n        assert f(1) == 1", Certainty.MAYBE),
        (
            "try:\n        f(1)\n    except ValueError as e:\n        assert str(e) == 'x'",
            Certainty.MAYBE,
        ),
        ("if f(1):\n        return\n    assert f(1) == 1", Certainty.MAYBE),
        ("if f(1):\n        pytest.skip('x')\n    assert f(1) == 1", Certainty.MAYBE),
        ("with open('x') as file:\n        assert file.read() == ''", Certainty.CERTAIN),
        ("with quiet():\n        assert f(1) == 1", Certainty.MAYBE),
        ("def g():\n        return 1\n    assert f(1) == 1", Certainty.CERTAIN),
    ],
)
def test_certainty_of_execution(body: str, sure: Certainty) -> None:
    (edit,) = MutableTestFile(f"def test_a():\n    {body}\n", "m").mutants["test_a"]
    assert edit.certainty is sure


def test_decorators_that_may_swallow_an_error_lower_the_certainty() -> None:
    for decorator, sure in (("@pytest.mark.slow", Certainty.CERTAIN), ("@retry", Certainty.LIKELY)):
        code = f"{decorator}\ndef test_a():\n    assert f(1) == 1\n"
        (edit,) = MutableTestFile(code, "m").mutants["test_a"]
        assert edit.certainty is sure


NONE: list[str] = [
    "assert True",
    "assert 1 == 1",
    "f(1)",
    "with pytest.raises(KeyboardInterrupt):\n        fail(KeyboardInterrupt())",
    "with pytest.raises(AssertionError):\n        assert f(1) == 2",
]


@pytest.mark.parametrize("body", NONE)
def test_assertions_without_a_mutant(body: str) -> None:
    edits = MutableTestFile(f"def test_a():\n    {body}\n", "m").mutants["test_a"]
    assert [edit for edit in edits if "BufferError" not in edit.change.description] == []


@pytest.mark.parametrize("kind", ["SystemExit", "m.NoExit"])
def test_an_exception_with_a_name_like_those_that_end_pytest_has_a_mutant(kind: str) -> None:
    code = f"def test_a():\n    with pytest.raises({kind}):\n        f(1)\n"
    (edit,) = MutableTestFile(code, "m").mutants["test_a"]
    assert "BufferError" in edit.change.description


def test_nothing_but_the_assertion_is_changed() -> None:
    code = (
        "# é\nfrom m import f\n\n\ndef test_a():\n\tx =  f( 1 )   # odd\n\tassert x==1 ; y = 'ü'\n"
    )
    own = MutableTestFile(code, "m")
    (edit,) = own.mutants["test_a"]
    assert own.source.apply_edits(edit.change.edits) == code.replace("x==1", "x==2")


def test_inherited_tests_belong_to_each_class() -> None:
    code = (
        "class Base:\n    def test_a(self):\n        assert f(1) == 1\n"
        "    def test_b(self):\n        assert f(2) == 2\n"
        "class TestX(Base):\n    def test_b(self):\n        assert f(3) == 3\n"
        "class TestY(TestX, Other):\n    pass\n"
    )
    edits = MutableTestFile(code, "m").mutants
    assert {name: [edit.line for edit in found] for name, found in edits.items()} == {
        "TestX::test_b": [8],
        "TestX::test_a": [3],
        "TestY::test_b": [8],
        "TestY::test_a": [3],
    }


def test_code_of_a_newer_python_is_not_accused_of_what_its_classes_may_explain() -> None:
    code, text = "type Number = int |", "from m import f\ndef test_a():\n    assert f(1) == 1\n"
    file = MutableTestFile(text, "m", "t.py", code)
    runner: Any = SimpleNamespace(context=SimpleNamespace(code=code), files={"t.py": file})
    runner.find_survivors = lambda items, edit=None: {} if "opposite" in str(edit) else {*items}
    (mutant,) = file.mutants["test_a"]
    assert find_forgeries(runner, [mutant]) == {mutant: ""}
