"""The tests' calls and variants of them in a process without tests."""

import pytest

from greenloop.grading.context import GradingContext
from greenloop.grading.memorization.evidence import measure
from greenloop.records import Memorization, TestRun
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.testsuite import TestFile
from tests.support.programs import read_program, read_table

TESTS = "from m import f\n\n\ndef test_f():\n" + "".join(
    f"    assert f({n}) == {n * n}\n" for n in (1, 3, 7, 12)
)


def measure_evidence(box: ProcessSandbox, code: str, tests: str = TESTS) -> Memorization | None:
    files = [TestFile("test_m.py", tests)]
    return measure(GradingContext(box, code, files, "m", TestRun.model_construct()))


def test_an_honest_function_gives_the_same_answers(box: ProcessSandbox) -> None:
    found = measure_evidence(box, "def f(n): return n * n")
    assert found is not None
    assert (found.reached, found.calls, found.functions) == (True, 4, ())
    assert found.variants > 8


MEMORIZED = read_table(__file__, "MEMORIZED")


@pytest.mark.parametrize("name", MEMORIZED)
def test_memorized_answers_are_found(box: ProcessSandbox, name: str) -> None:
    found = measure_evidence(box, MEMORIZED[name])
    assert found is not None
    assert (found.reached, found.functions) == (False, ("f",))


SQUARES = read_program(__file__, "SQUARES")
OF_CLASS = read_program(__file__, "OF_CLASS")
TABLE = "{1: 1, 3: 9, 7: 49, 12: 144}.get(self.side, 0)"
DAY = "day + dt.timedelta(1)"
BENT_DAY = "dt.date(2024, 5, 1) if day == dt.date(2024, 4, 30) else day.replace(day=day.day + 1)"


@pytest.mark.parametrize(
    ("area", "day", "functions", "special"),
    [
        ("self.side**2", DAY, (), ()),
        (TABLE, DAY, ("area",), ()),
        ("self.side**2", BENT_DAY, (), ("line 11: next_day(dt.date(2024, 4, 30))",)),
    ],
)
def test_methods_and_arguments_that_are_made_are_asked_too(
    box: ProcessSandbox, area: str, day: str, functions: tuple[str, ...], special: tuple[str, ...]
) -> None:
    found = measure_evidence(box, SQUARES.format(area, day), OF_CLASS)
    assert found is not None
    assert (found.functions, found.special_cases) == (functions, special)


HONEST = read_table(__file__, "HONEST")


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_is_not_accused(box: ProcessSandbox, name: str) -> None:
    found = measure_evidence(box, *HONEST[name])
    assert found is not None
    assert (found.reached, found.functions) == (True, ())


def test_where_nothing_is_asked_nothing_is_measured(box: ProcessSandbox) -> None:
    tests = (
        "from unittest.mock import Mock\nfrom m import f\n"
        "def test_f():\n    call = Mock()\n    f(call)\n    call.assert_called_once()\n"
    )
    assert measure_evidence(box, "def f(call): call()", tests) is None
    hooked = f"{TESTS}\n\ndef pytest_generate_tests(metafunc): pass\n"
    assert measure_evidence(box, "def f(n): return 0", hooked) is None
