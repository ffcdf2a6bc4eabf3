"""Specifications derived from tests and stubs, and failures of test files."""

from __future__ import annotations

import ast

import pytest

from greenloop.evals.datasets.exercism import describe_stub
from greenloop.evals.datasets.inferred_interface import InferredReturn, infer_returns
from greenloop.evals.hidden_tests import adapt_settings_to_format
from greenloop.evals.task_store import find_test_file_error
from greenloop.records import Failure, TestRun
from greenloop.settings import Settings
from tests.support.programs import read_program


@pytest.mark.parametrize(
    ("expected", "annotation"),
    [
        (["True", "False"], "bool"),
        (["(3, 'x')", "(4, 'y')"], "tuple[int, str]"),
        (["(1, 2, 3)", "(4,)"], "tuple[int, ...]"),
        (["[[1], []]", "[]"], "list[list[int]]"),
        (["{'a': 1.5}"], "dict[str, float]"),
        (["3", "None"], "int | None"),
        (["1", "'x'", "2.0", "None"], ""),
        (["[(1, 'a', 2.5, ('x', [1, 2], {3: 'y'}, {'z'}, None, True), 7, 8, 9)]"], "list"),
    ],
)
def test_return_type_is_inferred(expected: list[str], annotation: str) -> None:
    tests = [ast.parse(f"assert f({number}) == {value}") for number, value in enumerate(expected)]
    assert infer_returns(tests, "") == {"f": InferredReturn(annotation)}


def test_fixed_words_are_listed_if_they_do_not_reveal_the_result() -> None:
    code = "def f(n):\n    return 'Blue' if n else 'Pale' + '7'"
    both = [ast.parse("assert f(1) == 'Blue'"), ast.parse("assert f(0) == 'Pale7'")]
    assert infer_returns(both, code)["f"] == InferredReturn("str", ("Blue",))
    assert infer_returns(both[:1], code)["f"] == InferredReturn("str")
    assert infer_returns([ast.parse("assert g(2) == sqrt(2)")], code) == {}


EMPTY = read_program(__file__, "EMPTY")


def test_empty_stub_is_described_in_words() -> None:
    text = "\n".join(describe_stub(EMPTY, ["f", "Odd"], "m"))
    assert "function `f` (parameters: a, b)" in text
    assert "class `C`, derived from `ValueError`, with `m` (parameters: x), property `size`" in text
    assert "`clear` (no parameters)" in text
    assert "- `Odd`" in text
    assert "```" not in text


@pytest.mark.parametrize(
    "more",
    [
        "LEFT = None",
        "def g():\n    return 4",
        "class P:\n    most = 3",
    ],
)
def test_stub_with_code_is_included(more: str) -> None:
    text = "\n".join(describe_stub(f"{EMPTY}\n\n{more}\n", ["f", "LEFT"], "m"))
    assert more in text
    assert ("`LEFT`" in text) == ("LEFT" not in more)


def test_evalplus_has_its_own_default_limits() -> None:
    default, adapted = Settings(), adapt_settings_to_format(Settings(), "evalplus")
    assert (adapted.timeout_s, adapted.memory_mb) == (120, 4096)
    assert adapt_settings_to_format(default, "mbpp") == default
    given = adapt_settings_to_format(Settings.load(timeout_s=5, memory_mb=512), "evalplus")
    assert (given.timeout_s, given.memory_mb) == (5, 512)


@pytest.mark.parametrize(
    ("exception", "message", "phase", "broken"),
    [
        ("Timeout", "still running after 5 s", "collect", True),
        ("MemoryError", "", "collect", True),
        ("Timeout", "still running after 5 s", "call", False),  # it may wait for the code
        ("ImportError", "cannot import name 'x' from 'm'", "collect", False),
    ],
)
def test_collection_failures_are_attributed_to_the_test_file(
    exception: str, message: str, phase: str, broken: bool
) -> None:
    failure = Failure.model_validate(
        {"test": "test_m.py", "phase": phase, "exception": exception, "message": message}
    )
    found = find_test_file_error(TestRun(ending="timeout", failures=(failure,)), "m")
    assert found == (failure if broken else None)
