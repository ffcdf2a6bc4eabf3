"""Public functions and methods that no test runs."""

from greenloop.grading.coverage.measurement import find_unreached
from tests.support.programs import read_program

CODE = read_program(__file__, "CODE")
STATEMENTS = (1, 3, 4, 5, 6, 8, 10, 12, 13, 15, 16, 18, 20, 21, 23, 24, 26, 27)


def test_what_is_public_and_has_code_must_run() -> None:
    missed = (6, 10, 13, 18, 21, 24, 27)
    assert find_unreached(CODE, STATEMENTS, missed) == ("unused", "Shape.name")


def test_one_line_is_enough() -> None:
    assert find_unreached(CODE, STATEMENTS, (5, 18)) == ()
    assert find_unreached(CODE, STATEMENTS, (4, 5, 6)) == ("used",)


def test_an_operator_is_public_and_other_special_methods_are_not() -> None:
    code = "class V:\n    def __mul__(self, x):\n        return x\n    def __repr__(self):\n        return ''\n"
    assert find_unreached(code, (1, 2, 3, 4, 5), (3, 5)) == ("V.__mul__",)


def test_code_that_cannot_be_parsed_has_none() -> None:
    assert find_unreached("def", (1,), (1,)) == ()
