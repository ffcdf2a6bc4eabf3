"""Suspicion of lines."""

import ast

import pytest

from greenloop.records import Failure, Frame, TestRun
from greenloop.repair.fault_localization import FaultLocalization, compute_ochiai_scores
from greenloop.repair.hints import Hints, extract_hints
from greenloop.sandbox.work.trials.runs import BaselineResult
from tests.support.programs import read_program

CODE = read_program(__file__, "CODE")


def build_baseline(outcome: str, *lines: int) -> BaselineResult:
    return BaselineResult(f"{outcome} {lines}", outcome, 0.0, 0.0, frozenset(lines))  # type: ignore[arg-type]


def test_ochiai_coefficient() -> None:
    tests = ("failed", 6, 7), ("timeout", 6, 8), ("passed", 6, 8)
    assert compute_ochiai_scores([build_baseline(*item) for item in tests]) == pytest.approx(
        {6: 2 / (2 * 3) ** 0.5, 7: 1 / 2**0.5, 8: 1 / (2 * 2) ** 0.5}
    )


def test_constants_are_as_suspicious_as_their_uses() -> None:
    tests = [build_baseline("failed", 6, 7), build_baseline("passed", 6, 8)]
    lines = FaultLocalization(ast.parse(CODE), tests, Hints())
    assert lines.score_line(7) == 1
    assert 0 < lines.score_line(2) < 1
    assert lines.score_line(2) == lines.score_line(5) > lines.score_line(1) > 0
    assert lines.score_line(8) == 0
    one_line = ast.parse(CODE.replace("a:\n       ", "a:"))
    assert FaultLocalization(one_line, tests, Hints()).score_line(6) > 0


def test_all_lines_are_equal_without_coverage() -> None:
    frame = Frame(file="src/shop/prices.py", line=7, function="f", text="")
    failure = Failure(test="", phase="collect", exception="KeyError", message="", frames=(frame,))
    run = TestRun(ending="finished", failures=(failure,))
    lines = FaultLocalization(ast.parse(CODE), [], extract_hints(run, "shop.prices"))
    assert lines.score_line(7) == 1
    assert lines.score_line(6) == lines.score_line(8) > 0
