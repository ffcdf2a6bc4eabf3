"""Screen of `check --watch`: what it shows, and that it fits the terminal."""

from __future__ import annotations

import pytest

from greenloop import events as e
from greenloop.records import Failure, Report, TestRun
from greenloop.reporting.watch import WatchScreen
from tests.support.reports import HOSTILE, build_make_report

RED = TestRun(
    ending="finished",
    failures=(Failure(test="t.py::test_a", phase="call", exception="E", message="3 == 4\nb"),),
)


def show(screen: WatchScreen, width: int = 80, height: int = 24) -> str:
    text = str(screen.render(width, height))
    assert text.count("\n") < height
    assert max(map(len, text.split("\n"))) <= width
    return text


def build_screen(report: Report) -> WatchScreen:
    screen = WatchScreen("m.py test_m.py")
    screen.start_check()
    screen.handle_event(e.WorkStarted("tests"))
    screen.end_check(report)
    return screen


def test_survivors_are_rows_and_show_their_change() -> None:
    report = build_make_report()
    screen = build_screen(report)
    assert "›" in show(screen)
    assert "› line 3  k < 0 → k <= 0" in show(screen)
    assert "   no test with k = 0" in show(screen)
    before = show(screen)
    screen.shows_survivor = True
    assert any(line.startswith("    +") for line in show(screen).split("\n"))
    assert "    +" not in before
    screen.move(99)
    assert screen.survivor == screen.survivors[-1]
    screen.move(-99)
    assert screen.cursor == 0


def test_survivors_with_one_question_show_their_lines() -> None:
    report = build_make_report()
    assert report.evidence.mutation is not None
    first, *_ = report.evidence.mutation.survived
    pair = tuple(first.model_copy(update={"after": f"k < {n}"}) for n in (1, 2))
    mutation = report.evidence.mutation.model_copy(update={"survived": pair})
    evidence = report.evidence.model_copy(update={"mutation": mutation})
    text = show(build_screen(report.model_copy(update={"evidence": evidence})), 120)
    assert "line 3  k < 0 → k < 1 " in text
    assert "line 3  k < 0 → k < 2 " in text


def test_a_check_that_cannot_be_made_leaves_no_verdict_on_the_screen() -> None:
    screen = build_screen(build_make_report())
    screen.fail_check("m.py line 3: invalid syntax")
    lines = show(screen).split("\n")
    assert lines[1] == "✗ not checked: m.py line 3: invalid syntax"
    assert "passed" not in show(screen)


def test_failing_tests_are_shown_before_the_check_has_ended() -> None:
    screen = build_screen(build_make_report())
    screen.start_check()
    screen.handle_event(e.WorkStarted("grading, mutation"))
    screen.handle_event(e.TestRunFinished(RED))
    text = show(screen)
    assert "✗ test_a\n    E: 3 == 4\n" in text
    assert "0 passed" in text
    assert "grading, mutation: 0 s" in text


@pytest.mark.parametrize("size", [(40, 10), (200, 60), (10, 4)])
def test_hostile_text_fits_any_terminal(size: tuple[int, int]) -> None:
    screen = build_screen(build_make_report(HOSTILE))
    screen.message, screen.shows_survivor = HOSTILE, True
    assert "\x1b" not in show(screen, *size)


def test_a_question_and_its_diff_take_the_place_of_the_rest() -> None:
    screen = build_screen(build_make_report())
    screen.diff, screen.question = ("--- a", "+++ a", "+x = 1"), "write it? [y/N]"
    text = show(screen)
    assert "+x = 1" in text
    assert "write it? [y/N]" in text
    assert "surviving" not in text
