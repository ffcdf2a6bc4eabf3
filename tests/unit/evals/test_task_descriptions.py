"""What a task's text says besides the data's own, and what is said of its tests before they count."""

from __future__ import annotations

import ast

import pytest

from greenloop.evals.datasets.inferred_types import InferredReturn, infer_returns
from greenloop.evals.datasets.stub_description import describe_stub
from greenloop.evals.hidden_tests import adapt_settings_to_format
from greenloop.evals.task_validation import find_test_file_error
from greenloop.records import Failure, TestRun
from greenloop.settings import Settings


@pytest.mark.parametrize(
    ("wanted", "kind"),
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
def test_the_kind_of_an_answer_is_told_and_not_the_answer(wanted: list[str], kind: str) -> None:
    tests = [ast.parse(f"assert f({number}) == {value}") for number, value in enumerate(wanted)]
    assert infer_returns(tests, "") == {"f": InferredReturn(kind)}


def test_words_that_nobody_could_guess_are_told_where_they_do_not_answer() -> None:
    code = "def f(n):\n    return 'Blue' if n else 'Pale' + '7'"
    both = [ast.parse("assert f(1) == 'Blue'"), ast.parse("assert f(0) == 'Pale7'")]
    assert infer_returns(both, code)["f"] == InferredReturn("str", ("Blue",))
    assert infer_returns(both[:1], code)["f"] == InferredReturn("str")
    assert infer_returns([ast.parse("assert g(2) == sqrt(2)")], code) == {}


EMPTY = '''import os


def f(a, b=1):
    """Say."""


class C(ValueError):
    def m(self, x):
        pass

    @property
    def size(self): ...
'''


def test_an_empty_stub_is_told_in_words() -> None:
    told = "\n".join(describe_stub(EMPTY, ["f", "Odd"], "m"))
    assert "function `f` (parameters: a, b)" in told
    assert "class `C`, derived from `ValueError`, with `m` (parameters: x), property `size`" in told
    assert "- `Odd`" in told
    assert "```" not in told


@pytest.mark.parametrize(
    "more",
    [
        "LEFT = None",
        "def g():\n    return 4",
        "class P:\n    most = 3",
    ],
)
def test_a_stub_that_holds_more_is_shown(more: str) -> None:
    told = "\n".join(describe_stub(f"{EMPTY}\n\n{more}\n", ["f", "LEFT"], "m"))
    assert more in told
    assert ("`LEFT`" in told) == ("LEFT" not in more)


def test_hidden_tests_of_evalplus_may_use_what_their_data_supposes() -> None:
    ours, theirs = Settings(), adapt_settings_to_format(Settings(), "evalplus")
    assert (theirs.timeout_s, theirs.memory_mb) == (120, 4096)
    assert adapt_settings_to_format(ours, "mbpp") == ours
    asked = adapt_settings_to_format(Settings.load(timeout_s=5, memory_mb=512), "evalplus")
    assert (asked.timeout_s, asked.memory_mb) == (5, 512)


@pytest.mark.parametrize(
    ("exception", "message", "phase", "broken"),
    [
        ("Timeout", "still running after 5 s", "collect", True),
        ("MemoryError", "", "collect", True),
        ("Timeout", "still running after 5 s", "call", False),  # it may wait for the code
        ("ImportError", "cannot import name 'x' from 'm'", "collect", False),
    ],
)
def test_what_hangs_before_any_code_is_asked_lies_in_the_tests(
    exception: str, message: str, phase: str, broken: bool
) -> None:
    failure = Failure.model_validate(
        {"test": "test_m.py", "phase": phase, "exception": exception, "message": message}
    )
    found = find_test_file_error(TestRun(ending="timeout", failures=(failure,)), "m")
    assert found == (failure if broken else None)
