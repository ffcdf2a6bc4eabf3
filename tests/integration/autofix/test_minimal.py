"""Minimal repairs of a script that the user wrote."""

import ast

import pytest

from greenloop.autofix import FixResult, apply_free_fixes
from tests.support.programs import read_table


def minimal(code: str) -> FixResult:
    return apply_free_fixes(code, minimal=True)


@pytest.mark.parametrize(
    ("code", "fixed_code"),
    [
        ("def f(x)\n    return x\n", "def f(x):\n    return x\n"),
        ("if 1  # so\n    x = 1\nelse\n    x = 2\n", "if 1:  # so\n    x = 1\nelse:\n    x = 2\n"),
        ("x\u00a0= 1\nprint(\u200bx)\n", "x = 1\nprint(x)\n"),
        ("import os,sys\nx = math.pi\n", "import math\nimport os,sys\nx = math.pi\n"),
    ],
)
def test_small_errors_are_fixed_in_place(code: str, fixed_code: str) -> None:
    fixed = minimal(code)
    assert fixed.code == fixed_code
    assert fixed.applied
    assert minimal(fixed_code).code == fixed_code


@pytest.mark.parametrize(
    "code",
    read_table(__file__, "UNCHANGED"),
)
def test_valid_or_unfixable_source_is_unchanged(code: str) -> None:
    assert minimal(code) == FixResult(code)


@pytest.mark.parametrize(
    ("code", "fixed_code"),
    read_table(__file__, "INDENTED"),
)
def test_mixed_indentation_is_fixed(code: str, fixed_code: str) -> None:
    with pytest.raises(SyntaxError):
        ast.parse(code)
    fixed = minimal(code)
    assert fixed.code == fixed_code
    assert "indentation: tabs and spaces mixed" in fixed.applied


def test_ambiguous_tabs_are_unchanged() -> None:
    code = "for i in 1, 2:\n    if i:\n        x = 1\n\ty = 2\n"
    assert minimal(code) == FixResult(code)


def test_line_endings_and_a_byte_order_mark_are_kept() -> None:
    assert minimal("def f(x)\r\n    return x\r\n").code == "def f(x):\r\n    return x\r\n"
    assert minimal("\ufeffdef f(x)\n    return x\n").code == "\ufeffdef f(x):\n    return x\n"
    assert minimal("x = 1\r\nif x\n    y = 2\n").code.startswith("x = 1\r\n")


def test_python_2_source_is_left_to_the_model() -> None:
    assert minimal("print 1\n") == FixResult("print 1\n")
