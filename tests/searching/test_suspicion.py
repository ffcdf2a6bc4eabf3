"""Which lines are suspicious."""

from __future__ import annotations

import ast

import pytest

from greenloop.repair.fault_localization import Suspicion, ochiai
from greenloop.repair.hints import Hints
from greenloop.sandbox.work.patches import Reached

CODE = """\
LOW = 1
HIGH = 2


def f(a=LOW):
    if a:
        return HIGH
    return 3
"""


def reached(outcome: str, *lines: int) -> Reached:
    return Reached(f"{outcome} {lines}", outcome, 0.0, 0.0, frozenset(lines))  # type: ignore[arg-type]


def test_the_coefficient() -> None:
    tests = [reached("failed", 6, 7), reached("timeout", 6, 8), reached("passed", 6, 8)]
    assert ochiai(tests) == pytest.approx(
        {6: 2 / (2 * 3) ** 0.5, 7: 1 / 2**0.5, 8: 1 / (2 * 2) ** 0.5}
    )


def test_what_is_read_at_import_is_as_suspicious_as_its_users() -> None:
    tests = [reached("failed", 6, 7), reached("passed", 6, 8)]
    lines = Suspicion(ast.parse(CODE), tests, Hints())
    assert lines.of(7) == 1
    assert 0 < lines.of(2) < 1
    assert lines.of(2) == lines.of(5) > lines.of(1) > 0
    assert lines.of(8) == 0


def test_where_nothing_is_known_all_lines_are_alike() -> None:
    lines = Suspicion(ast.parse(CODE), [], Hints(crashes=((7, "KeyError"),)))
    assert lines.of(7) == 1
    assert lines.of(6) == lines.of(8) > 0
