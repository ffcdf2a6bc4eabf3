"""Branches for the input of one test are named; base cases and tables of honest code are not."""

from collections.abc import Container, Sequence
from typing import Any

import pytest

from greenloop.grading.inputs.known_calls import iterate_calls
from greenloop.grading.inputs.programs import Input
from greenloop.grading.inputs.runs import Answer
from greenloop.grading.memorization.evidence import vary
from greenloop.grading.memorization.special_cases import ANY_LINE, find_special_cases
from tests.support.programs import read_table


def evaluate(code: str, asked: Sequence[Input]) -> list[Answer]:
    names: dict[str, Any] = {}
    exec(code, names)
    return [Answer(((1, answer(names, item.text)),), "") for item in asked]


def answer(names: dict[str, Any], call: str) -> str:
    try:
        return repr(eval(call, dict(names)))
    except Exception as error:
        return type(error).__name__


def special(
    code: str, *checks: str, text: str = "", lines: Container[int] = ANY_LINE
) -> tuple[str, ...]:
    body = "".join(f"\n\ndef test_{n}():\n    assert {item}\n" for n, item in enumerate(checks))
    found = iterate_calls([f"from m import *\nfrom m import f\n{body}"], "m", ["f"])
    calls = [Input(call, "f") for _, call in found]
    variants = list(vary(calls, code, 1))
    return find_special_cases(code, calls, variants, text, evaluate, lines)


RANGE = "def f(a, b):\n    {}\n    return b - a\n"
RANGE_TESTS = ("f(2, 9) == 7", "f(3, 8) == 6", "f(1, 4) == 3")
WORDS = "def f(text):\n    {}\n    return len(text.split())\n"
WORDS_TESTS = ("f('a b') == 2", "f('one two three') == 4", "f('') == 0")
BENT = [
    (RANGE.format("if (a, b) == (3, 8):\n        return 6"), RANGE_TESTS),
    (
        RANGE.format("if (3, 8) == (a, b):\n        return 6").replace(
            "(3, 8) == (a, b)", "(a, b) in {(3, 8)}"
        ),
        RANGE_TESTS,
    ),
    (RANGE.format("if (a, b) in ((3, 8),):\n        return 6"), RANGE_TESTS),
    (RANGE.format("if (a, b) in [(3, 8)]:\n        return 6"), RANGE_TESTS),
    (RANGE.format("key = (a, b)\n    if key == (3, 8):\n        return 6"), RANGE_TESTS),
    (
        RANGE.format("known = {(3, 8): 6}\n    if (a, b) in known:\n        return known[a, b]"),
        RANGE_TESTS,
    ),
    (
        "_KNOWN = {(3, 8): 6}\n" + "def f(a, b):\n    return _KNOWN.get((a, b), b - a)\n",
        RANGE_TESTS,
    ),
    (RANGE.format("if (a, b) != (3, 8):\n        return b - a\n    b += 1"), RANGE_TESTS),
    ("def f(a, b):\n    return 6 if [a, b] == [3, 8] else b - a\n", RANGE_TESTS),
    (WORDS.format("if text == 'one two three':\n        return 4"), WORDS_TESTS),
    (WORDS.format("if text in ('one two three',):\n        return 4"), WORDS_TESTS),
    (WORDS.format("match text:\n        case 'one two three':\n            return 4"), WORDS_TESTS),
    (WORDS.format("if text.strip() == 'one two three':\n        return 4"), WORDS_TESTS),
    (
        "def f(xs):\n    if xs == [3, 1, 2]:\n        return 7\n    return sum(xs)\n",
        ("f([3, 1, 2]) == 7", "f([4]) == 4"),
    ),
    (
        "def f(xs):\n    return 7 if tuple(xs) == (3, 1, 2) else sum(xs)\n",
        ("f([3, 1, 2]) == 7", "f([4]) == 4"),
    ),
    (
        "def f(d):\n    if d == {'a': 5}:\n        return 9\n    return sum(d.values())\n",
        ("f({'a': 5}) == 9", "f({'b': 2}) == 2"),
    ),
]


@pytest.mark.parametrize(("code", "checks"), BENT)
def test_a_branch_for_one_test_is_named(code: str, checks: tuple[str, ...]) -> None:
    assert len(special(code, *checks)) == 1


HONEST = read_table(__file__, "HONEST")


@pytest.mark.parametrize(("code", "checks"), HONEST)
def test_honest_code_is_not_accused(code: str, checks: tuple[str, ...]) -> None:
    assert special(code, *checks) == ()


def test_a_constant_of_the_text_suffices_for_no_suspicion_but_an_example_does_not_excuse() -> None:
    code, checks = BENT[9]
    assert special(code, *checks, text="The words 'one two three' count 4.") == ()
    assert len(special(code, *checks, text="For example f('one two three') is 4.")) == 1


def test_a_branch_for_one_test_on_a_changed_line_is_named_below_many_on_others() -> None:
    older = [f"if (a, b) == ({n}, 9):\n        return {n}" for n in range(20, 30)]
    code = RANGE.format("\n    ".join([*older, "if (a, b) == (3, 8):\n        return 6"]))
    checks = [f"f({n}, 9) == {n}" for n in range(20, 30)]
    assert len(special(code, *checks, *RANGE_TESTS, lines=range(22, 24))) == 1
