"""What variants of the tests' calls show of a function."""

import ast

import pytest

from greenloop.grading.inputs.programs import Input
from greenloop.grading.inputs.runs import Answer
from greenloop.grading.memorization.detection import is_memorized


@pytest.mark.parametrize(("base", "memorized"), [("ValueError", True), ("OSError", False)])
def test_a_call_that_finds_no_file_shows_nothing(base: str, memorized: bool) -> None:
    node = ast.parse("f('a.txt')", mode="eval").body
    given = (Answer(((1, f'{{"value":{value}}}'),), "") for value in ("true", "false"))
    called = [(Input(node, "f"), item) for item in given]
    error = f'{{"error":["exception",[["builtins","OwnError"],["builtins","{base}"]],"",{{}}]}}'
    assert is_memorized("", called, [Answer(((1, error),), "")] * 8) is memorized
