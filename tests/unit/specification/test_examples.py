"""Signatures and examples of a specification."""

import ast
import time

import pytest

from greenloop.records import GivenExample
from greenloop.specification.example_tests import render_example_tests
from greenloop.specification.examples import analyze_specification, filter_usable_examples
from tests.support.programs import read_table


def doctests(text: str) -> list[str]:
    return [item.doctest for item in analyze_specification(text).examples]


@pytest.mark.parametrize(("text", "signatures"), read_table(__file__, "SIGNATURES"))
def test_signatures_are_found(text: str, signatures: list[str]) -> None:
    given = analyze_specification(text)
    taken = [ast.unparse(node) for node in ast.parse(given.signatures).body]
    assert taken == [ast.unparse(ast.parse(item)) for item in signatures]


@pytest.mark.parametrize(
    ("line", "call", "value"),
    read_table(__file__, "ARROWS"),
)
def test_arrow_line_is_an_example(line: str, call: str, value: str) -> None:
    assert doctests(f"Text:\n{line}\nMore.") == [f">>> {call}\n{value}\n"]


@pytest.mark.parametrize(
    "line",
    ["f(-1) raises ValueError", "- `f(-1)` raises a `ValueError`.", "f(-1) raise ValueError"],
)
def test_named_exception_is_an_example(line: str) -> None:
    (example,) = doctests(line)
    assert example.startswith(">>> f(-1)\nTraceback")
    assert example.endswith("ValueError\n")


@pytest.mark.parametrize(
    "line",
    [*read_table(__file__, "RESEMBLING"), "f(1) -> " + "1" * 5000],
)
def test_lines_that_resemble_examples_are_ignored(line: str) -> None:
    assert doctests(line) == []


DOCTEST = ">>> f(1)\n2\n>>> f(2)\n3\n"


@pytest.mark.parametrize(
    "text",
    [
        f"Prose before.\n\n{DOCTEST}\nProse after.",
        f"```python\n{DOCTEST}```\n",
        f"```\n{DOCTEST}```",
        "  - indented:\n\n    >>> f(1)\n    2\n    >>> f(2)\n    3\n",
        'def f(x):\n    """Doc.\n\n    >>> f(1)\n    2\n    >>> f(2)\n    3\n    """\n',
        'def f(x):\n    """>>> f(1)\n    2\n    >>> f(2)\n    3"""\n    return x\n',
        DOCTEST + "\n" + DOCTEST,
    ],
)
def test_doctests_are_found_anywhere(text: str) -> None:
    assert doctests(text) == [">>> f(1)\n2\n", ">>> f(2)\n3\n"]


def test_dependent_doctests_stay_together() -> None:
    text = ">>> s = f()\n>>> s.add(1)\n>>> s.size\n1\n"
    assert doctests(text) == [text]
    assert doctests(">>> s = f()\n") == []


def test_doctest_of_several_lines_and_an_exception() -> None:
    text = (
        ">>> for n in (1, 2):\n...     print(f(n))\n2\n3\n\n"
        ">>> f(-1)\nTraceback (most recent call last):\n    ...\nValueError: no\n"
    )
    first, second = doctests(text)
    assert first == ">>> for n in (1, 2):\n...     print(f(n))\n2\n3\n"
    assert second.endswith("ValueError: no\n")


def test_fences_part_doctests_that_do_not_go_on() -> None:
    alone = "```python\n>>> import datetime\n>>> datetime.date(2022, 5, 4).day\n4\n```\n"
    text = f"{alone}So:\n```python\n>>> c = Clock(1)\n```\nThen:\n```\n>>> c.hour\n1\n```\n"
    assert doctests(text)[1:] == [">>> c = Clock(1)\n>>> c.hour\n1\n"]
    assert "Clock" not in doctests(text)[0]


def test_doctest_that_shows_an_address_is_no_example() -> None:
    text = ">>> Clock(1)\n<Clock object at 0x7F2a>\n\n>>> str(Clock(1))\n'01'\n"
    assert doctests(text) == [">>> str(Clock(1))\n'01'\n"]


@pytest.mark.parametrize("text", read_table(__file__, "INEXACT"))
def test_doctest_that_is_not_exact_becomes_no_test(text: str) -> None:
    last = ">>> f(-1)  # doctest: +ELLIPSIS\nTraceback (most recent call last):\nValueError: ...\n"
    assert doctests(text) == []
    assert doctests(text + ">>> f(1)\n'...'\n" + last) == [">>> f(1)\n'...'\n", last]
    assert doctests(f">>> x = f(1)\n>>> x\n1\n{text}>>> x\n2\n") == [">>> x = f(1)\n>>> x\n1\n"]


def test_invalid_doctest_is_ignored() -> None:
    assert doctests("Press >>> to go on\n >>>x\n>>>\n") == []
    assert doctests(">>> f(1)\n  2\n>>>bad\n") == []


def test_only_examples_of_known_names_are_usable() -> None:
    examples = tuple(
        GivenExample(doctest=f">>> {item}\n1\n")
        for item in (
            "f(1)",
            "g(1)",
            "x = f(1); x",
            "import math; math.floor(f(1))",
            "sorted(f(n) for n in range(3))",
            "f(y)",
            "ord('a')",
        )
    )
    usable = filter_usable_examples(examples, frozenset({"f"}))
    assert [item.doctest for item in examples if item not in usable] == [
        ">>> g(1)\n1\n",
        ">>> f(y)\n1\n",
        ">>> ord('a')\n1\n",
    ]


def test_examples_are_plain_tests() -> None:
    text = "f(1) -> 2, f(2) -> [0.5], f(3) gives true and f(-1) raises ValueError."
    assert render_example_tests("m", analyze_specification(text).examples) == (
        "import pytest\n\nfrom m import f\n\n\n"
        "def test_specification_example_1():\n    assert f(1) == 2\n\n\n"
        "def test_specification_example_2():\n"
        "    assert f(2) == [pytest.approx(0.5, rel=1e-09, abs=1e-12)]\n\n\n"
        "def test_specification_example_3():\n    assert f(3) is True\n\n\n"
        "def test_specification_example_4():\n"
        "    with pytest.raises(ValueError):\n        f(-1)\n"
    )


def test_results_that_differ_between_equal_calls_are_one_example() -> None:
    text = ">>> next_id()\n1\n>>> next_id()\n2\n"
    assert doctests(text) == [text]


def test_without_examples_there_are_no_tests() -> None:
    assert render_example_tests("m", ()) == ""


SIZE = 100_000
HOSTILE = {
    "open fences": "```x\n" * (SIZE // 5),
    "open definitions": "def f(" * (SIZE // 6),
    "definitions and closings": "def f(" * (SIZE // 12) + ")" * (SIZE // 2),
    "brackets behind an arrow": "def f() -> " + "[" * SIZE,
    "blanks behind a definition": "def f()" + " " * SIZE,
    "arguments": "def f(a" + ",a" * SIZE + ")",
    "blanks behind a value": "f(1) -> 1" + " " * SIZE + "x",
    "parentheses": "f(" + ")" * SIZE,
    "arrows": "f(1) -> " * (SIZE // 8),
    "articles": "f(1) raises " + "a " * SIZE,
    "lines of arrows": ("f(" + ") " * 900 + "\n") * (SIZE // 1800),
    "lines of blanks": ("f(1)" + " " * 1900 + "x\n") * 50,
    "newlines": "x = 1\n" + "\n" * SIZE,
    "signs": "-" * SIZE + "1",
    "nesting": "(" * SIZE,
    "attributes": "a" + ".b" * SIZE,
    "quotes": '"""' * (SIZE // 3),
    "backticks": "`" * SIZE,
    "bullets": "* " * SIZE,
    "prompts": ">>> f(\n" * (SIZE // 7),
    "continuations": ">>> f()\n" + "... x\n" * (SIZE // 6),
    "NUL": "\0" * SIZE,
    "open strings": 'f("' * (SIZE // 3),
    "open values": "f(1) -> [" * (SIZE // 9),
    "open calls as values": "f(1) -> x(" * (SIZE // 10),
    "open backticks": "f(1) returns `" * (SIZE // 14),
    "cells": "| f(1) " * (SIZE // 7),
    "cells with values": "| f(1) | 2 " * (SIZE // 11),
    "long literals": ("f(1) -> [" + "1," * 900 + "]\n") * (SIZE // 1800),
    "conditions": "if " + "not " * (SIZE // 4) + "f(1) -> 2",
    "adverbs": "f(1) " + "also " * (SIZE // 5),
    "members": "f(1)" + ".a(1)" * (SIZE // 5),
    "nested calls": "f(" * 900 + "1" + ")" * 900 + " -> 2\n",
    "examples": "f(1) -> 2, " * (SIZE // 11),
    "typographic quotes": "\u201cf(1)\u201d " * (SIZE // 7),
    "statements": "```python\nx = 1\n" + "f(1)  # 2\n" * (SIZE // 20) + "```\n",
    "numbers": "f(1) -> " + "1" * SIZE,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_adversarial_text_is_read_in_linear_time(name: str) -> None:
    started = time.process_time()
    analyze_specification(HOSTILE[name])
    assert time.process_time() - started < 2
