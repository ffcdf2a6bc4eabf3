"""Calls with plain values in assertions are extracted; others are ignored."""

from __future__ import annotations

import pytest

from greenloop.grading.memorization.call_extraction import extract_calls
from greenloop.grading.memorization.input_variants import generate_input_variants

HEAD = "import math\nimport pytest\nimport unittest\nimport m\nfrom m import f, g as h, K\n\n\n"


def extract(body: str, head: str = "def test_a():") -> list[tuple[str, tuple[object, ...]]]:
    code = f"{HEAD}{head}\n    " + body.replace("\n", "\n    ") + "\n"
    return [(item.call, item.arguments) for item in extract_calls(code, "m")]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("assert f(2) == 4", "f(2)"),
        ("assert 4 == f(-2)", "f(-2)"),
        ("assert m.f([1], 'a') == {'a': 1}", "f([1], 'a')"),
        ("assert h(2) is None", "g(2)"),
        ("assert f(2) == pytest.approx(0.5)", "f(2)"),
        ("assert abs(f(2) - 0.5) < 1e-9", "f(2)"),
        ("assert not f(2)", "f(2)"),
        ("assert f(2).x != 4", "f(2)"),
        ("assert sorted(f(2)) == [other(3)]", "f(2)"),
        ("self.assertAlmostEqual(f(2), 4)", "f(2)"),
        ("self.assertFalse(f(2))", "f(2)"),
        ("with pytest.raises(ValueError):\n    f(0)\nassert f(2) == 4", "f(2)"),
        ("'A text.'\nassert f(2) == 4", "f(2)"),
    ],
)
def test_extracted_calls(body: str, wanted: str) -> None:
    assert [call for call, _ in extract(body)] == [wanted]


def test_all_calls_of_an_assertion_are_extracted_once() -> None:
    body = "assert f(2) == f(3, 'a')\nassert f(2) == 4"
    assert sorted(extract(body)) == [("f(2)", (2,)), ("f(3, 'a')", (3, "a"))]


@pytest.mark.parametrize(
    "body",
    [
        "x = f(1)\nassert f(2) == 4",
        "f(1)\nfor n in 1, 2:\n    assert f(n) == n",
        "assert f(x) == 4",
        "assert other(2) == 4",
        "assert f(n=2) == 4",
        "assert f() == 4",
        "assert f(*[2]) == 4",
    ],
)
def test_ignored_calls(body: str) -> None:
    assert extract(body) == []


def test_parameters_are_filled_in() -> None:
    head = "@pytest.mark.parametrize('n, out', [(1, 2), pytest.param(3, 4), (x, 5)])\ndef test_a(n, out):"
    assert extract("assert f(n) == out", head) == [("f(1)", (1,)), ("f(3)", (3,))]


@pytest.mark.parametrize(
    "head",
    [
        "def test_a(tmp_path):",
        "@pytest.fixture(autouse=True)\ndef x(): pass\n\ndef test_a():",
        "@freeze\ndef test_a():",
        "def setup_module(): pass\ndef test_a():",
        "async def test_a():",
    ],
)
def test_tests_with_setup_are_ignored(head: str) -> None:
    assert extract("assert f(2) == 4", head) == []


def test_classes_with_setup_are_ignored() -> None:
    code = f"{HEAD}class TestA:\n    def test_a(self):\n        assert f(2) == 4\n"
    assert len(extract_calls(code, "m")) == 1
    assert extract_calls(f"{code}    def setup_method(self): pass\n", "m") == []


def test_code_that_cannot_be_parsed() -> None:
    assert extract_calls("def f(:", "m") == []


@pytest.mark.parametrize(
    "value", [3, 2.5, True, "ab1", [1, 2], (1, "a"), {"a": 1}, [[1], [2]]], ids=repr
)
def test_variants_differ_and_have_the_same_type(value: object) -> None:
    others = [item[0] for item in generate_input_variants((value,))]
    assert 0 < len(others) <= 8
    assert all(other != value for other in others)
    assert {type(other) for other in others} == {type(value)}


def test_one_argument_is_changed_at_a_time() -> None:
    assert set(generate_input_variants((1, "a"))) >= {(0, "a"), (2, "a"), (1, "A")}
    assert all(one == 1 or other == "a" for one, other in generate_input_variants((1, "a")))
    assert list(generate_input_variants((None, object))) == []
