"""Failures of an aborted run in a repair prompt."""

from typing import get_args

import pytest

from greenloop.prompts.failure_context import (
    failure_signature,
    normalize,
    select_failures,
    summarize_run,
)
from greenloop.records import Ending, Failure, Frame, TestRun
from greenloop.testsuite import Suite
from tests.support.programs import read_table

SUITE = Suite("m", generated="import m\n\n\ndef test_a():\n    m.f()\n")


def hung(line: int) -> TestRun:
    frames = tuple(
        Frame(file=file, line=line, function="f", text=f"line {line}")
        for file in ("test_m.py", "m.py")
    )
    failure = Failure(
        test="test_m.py::test_a",
        phase="call",
        exception="Timeout",
        message="still running after 30 s",
        frames=frames,
    )
    return TestRun(ending="timeout", detail="still running after 30 s", failures=(failure,))


def test_line_of_a_hung_test_is_left_out() -> None:
    first, second = hung(3), hung(4)
    assert failure_signature(first) == failure_signature(second)
    assert select_failures(first, SUITE) == select_failures(second, SUITE)
    (shown,) = select_failures(first, SUITE)
    assert (shown.test, shown.exception) == ("test_m.py::test_a", "Timeout")
    assert "m.f()" in shown.source


def test_line_of_other_failures_is_included() -> None:
    one, other = (item.model_copy(update={"ending": "finished"}) for item in (hung(3), hung(4)))
    assert failure_signature(one) != failure_signature(other)


def test_failures_in_one_line_of_the_module_are_shown_once() -> None:
    (one,) = hung(3).failures
    failures = tuple(one.model_copy(update={"test": f"test_m.py::test_{at}"}) for at in range(9))
    assert len(select_failures(TestRun(ending="finished", failures=failures), SUITE)) == 1


@pytest.mark.parametrize("ending", sorted({*get_args(Ending)} - {"finished"}))
def test_each_ending_has_its_own_text(ending: Ending) -> None:
    run = TestRun(ending=ending, detail="the number")
    assert "were not reported" not in summarize_run(run)
    assert "the number" in summarize_run(run)


@pytest.mark.parametrize(("message", "shown"), read_table(__file__, "messages").items())
def test_prompt_shows_the_values_that_a_test_compares(message: str, shown: str | None) -> None:
    assert normalize(message) == (shown or message)
