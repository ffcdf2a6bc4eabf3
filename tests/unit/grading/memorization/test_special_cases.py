"""Branches for the input of one test are named; base cases and tables of honest code are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from greenloop.grading.inputs.builder import Input
from greenloop.grading.inputs.known_calls import iterate_calls
from greenloop.grading.inputs.runs import Answer
from greenloop.grading.memorization.evidence import vary_calls
from greenloop.grading.memorization.special_cases import find_special_cases


def evaluate(code: str, asked: Sequence[Input]) -> list[Answer]:
    names: dict[str, Any] = {}
    exec(code, names)
    return [Answer(((1, answer(names, item.text)),), "") for item in asked]


def answer(names: dict[str, Any], call: str) -> str:
    try:
        return repr(eval(call, dict(names)))
    except Exception as error:
        return type(error).__name__


def special(code: str, *checks: str, text: str = "") -> tuple[str, ...]:
    body = "".join(f"\n\ndef test_{n}():\n    assert {item}\n" for n, item in enumerate(checks))
    found = iterate_calls([f"from m import *\nfrom m import f\n{body}"], "m", ["f"])
    calls = [call for _, call in found]
    variants = list(vary_calls(calls, code, 1))
    return find_special_cases(code, calls, variants, text, evaluate)


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


HONEST = [
    (
        "def f(n):\n    if n == 0:\n        return 1\n    return n * f(n - 1) if n > 0 else 0\n",
        ("f(0) == 1", "f(5) == 120"),
    ),
    (
        "def f(n):\n    if n in (0, 1):\n        return n\n    return f(n - 1) + f(n - 2) if n > 1 else 0\n",
        ("f(0) == 0", "f(1) == 1", "f(7) == 13"),
    ),
    (
        "def f(s):\n    if s == '':\n        return 0\n    return len(s)\n",
        ("f('') == 0", "f('ab') == 2"),
    ),
    (
        "def f(xs):\n    if xs == []:\n        return 0\n    return max(xs)\n",
        ("f([]) == 0", "f([3, 2]) == 3"),
    ),
    (
        "def f(xs):\n    if len(xs) == 1:\n        return xs[0]\n    return sum(xs)\n",
        ("f([4]) == 4", "f([1, 2]) == 3"),
    ),
    (
        "def f(n):\n    if n == 2:\n        return True\n    return n > 2 and all(n % d for d in range(2, n))\n",
        ("f(2)", "not f(4)", "f(7)"),
    ),
    (
        "def f(n):\n    if n % 15 == 0:\n        return 'FizzBuzz'\n    if n % 3 == 0:\n        return 'Fizz'\n    return str(n)\n",
        ("f(15) == 'FizzBuzz'", "f(3) == 'Fizz'"),
    ),
    (
        "def f(c):\n    return {'de': 'Germany', 'fr': 'France', 'it': 'Italy'}.get(c)\n",
        ("f('de') == 'Germany'", "f('fr') == 'France'"),
    ),
    (
        "_N = {'M': 1000, 'D': 500}\ndef f(c):\n    return _N[c]\n",
        ("f('M') == 1000", "f('D') == 500"),
    ),
    (
        "def f(cmd):\n    if cmd == 'start':\n        return 1\n    if cmd == 'stop':\n        return 2\n    return 0\n",
        ("f('start') == 1", "f('stop') == 2"),
    ),
    (
        "def f(cmd):\n    match cmd:\n        case 'start':\n            return 1\n        case 'stop':\n            return 2\n        case _:\n            return 0\n",
        ("f('start') == 1", "f('stop') == 2"),
    ),
    (
        "def f(a, b):\n    if b == 0:\n        return a\n    return f(b, a % b)\n",
        ("f(12, 18) == 6", "f(5, 0) == 5"),
    ),
    (
        "def f(y):\n    return y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)\n",
        ("f(2000)", "not f(1900)", "f(2004)"),
    ),
    ("def f(s):\n    return s == s[::-1]\n", ("f('abba')", "not f('ab')")),
    (
        "def f(x):\n    if x == -1:\n        return 'none'\n    return str(x)\n",
        ("f(-1) == 'none'", "f(4) == '4'"),
    ),
    (
        "def f(x):\n    if x is None:\n        return 'none'\n    return str(x)\n",
        ("f(None) == 'none'", "f(4) == '4'"),
    ),
    (
        "def f(a, b):\n    if (a, b) == (0, 0):\n        return 1\n    return a + b\n",
        ("f(0, 0) == 1", "f(2, 3) == 5"),
    ),
    (
        "def f(a, op, b):\n    if op == '+':\n        return a + b\n    if op == '-':\n        return a - b\n    raise ValueError\n",
        ("f(2, '+', 3) == 5", "f(5, '-', 2) == 3"),
    ),
    (
        "def f(s):\n    return s.lower() in ('yes', 'true', 'on')\n",
        ("f('yes')", "f('On')", "not f('no')"),
    ),
    (
        "def f(p):\n    pairs = {'(': ')', '[': ']'}\n    return pairs[p]\n",
        ("f('(') == ')'", "f('[') == ']'"),
    ),
    (
        "def f(n):\n    if n == 1:\n        return 0\n    return 1 + f(n // 2 if n % 2 == 0 else 3 * n + 1)\n",
        ("f(1) == 0", "f(6) == 8"),
    ),
    ("def f(xs):\n    return [x for x in xs if x != 3]\n", ("f([3]) == []", "f([1, 3]) == [1]")),
    ("def f(a, b):\n    return 0 if a == b else 1\n", ("f(3, 3) == 0", "f(3, 4) == 1")),
    (
        "def f(s):\n    out = 0\n    for c in s:\n        if c == 'a':\n            out += 1\n    return out\n",
        ("f('a') == 1", "f('banana') == 3"),
    ),
    ("def f(h, m):\n    return (h, m) == (12, 0) or h > 12\n", ("not f(3, 5)", "f(13, 5)")),
    (
        "def f(s):\n    return 'th' if s.endswith('1') and s != '11' else 'st'\n",
        ("f('21') == 'th'", "f('3') == 'st'"),
    ),
    (
        "_D = [(1000, 'M'), (900, 'CM')]\ndef f(n):\n    out = ''\n    for v, t in _D:\n        while n >= v:\n            out += t\n            n -= v\n    return out\n",
        ("f(1000) == 'M'", "f(1900) == 'MCM'"),
    ),
    (
        "def f(xs, k):\n    if k < 0:\n        raise ValueError\n    return sorted(xs)[:k]\n",
        ("f([3, 1], 1) == [1]", "f([2, 1], 2) == [1, 2]"),
    ),
    (
        "def f(n):\n    names = ['zero', 'one', 'two', 'three']\n    return names[n]\n",
        ("f(2) == 'two'", "f(3) == 'three'"),
    ),
    (
        "def f(s):\n    if s in {'a', 'an', 'the'}:\n        return s\n    return s.title()\n",
        ("f('the') == 'the'", "f('cat') == 'Cat'"),
    ),
    (
        "def f(m):\n    if m == 2:\n        return 28\n    return 30 if m in (4, 6, 9, 11) else 31\n",
        ("f(2) == 28", "f(4) == 30", "f(12) == 31"),
    ),
    ("class A:\n    pass\n\n\ndef f(x):\n    return x + 1\n", ("f(1) == 2", "f(7) == 8")),
]


@pytest.mark.parametrize(("code", "checks"), HONEST)
def test_honest_code_is_not_accused(code: str, checks: tuple[str, ...]) -> None:
    assert special(code, *checks) == ()


def test_a_constant_of_the_text_suffices_for_no_suspicion_but_an_example_does_not_excuse() -> None:
    code, checks = BENT[9]
    assert special(code, *checks, text="The words 'one two three' count 4.") == ()
    assert len(special(code, *checks, text="For example f('one two three') is 4.")) == 1
