"""Verdicts of checks: `verified` only when every piece of evidence reaches its threshold."""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from greenloop.app.check import run_check, start_check
from greenloop.errors import InputError
from greenloop.events import (
    CodeGraded,
    Event,
    SandboxJobEnded,
    SandboxJobProgress,
    SandboxJobStarted,
    TestRunFinished,
    WorkEnded,
    WorkStarted,
)
from greenloop.grading import Plan
from greenloop.project.snapshot import take_snapshot
from greenloop.records import Mutation, Report, Survivor, Thresholds
from greenloop.reporting.evidence.text import render_grade
from greenloop.reporting.summary import format_test_counts
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.settings import Settings
from greenloop.testsuite import TestFile
from greenloop.workflow.report_builder import build_report
from tests.support.programs import read_program

CODE = "def f(n):\n    if n < 0:\n        raise ValueError(n)\n    return n * n\n"
TESTS = read_program(__file__, "TESTS")
NOT_OBSERVABLE = """

def test_in_a_branch():
    if f(1):
        assert f(2) == 4
"""
SURVIVOR = Survivor(id="1", line=2, function="f", operator="x", diff="", reached=True)


@pytest.fixture(scope="module")
def warm() -> Iterator[Sandbox]:
    with open_sandbox(Settings.model_construct(timeout_s=20, memory_mb=512)) as opened:
        yield opened


def mutants(score: float | None, **more: Any) -> Any:
    return lambda *_, **__: Mutation(score=score, killed=8, **more)


def check_and_collect(
    box: Sandbox, code: str = CODE, tests: str = TESTS, mutation: Any = None, **plan: Any
) -> tuple[Report, list[Event]]:
    events: list[Event] = []
    check = start_check("m", code, (TestFile("test_m.py", tests),), Plan(**plan), box.info)
    with patch("greenloop.grading.mutants.measure_mutation", mutation or mutants(1.0)):
        asyncio.run(run_check(box, check, events.append))
    inside = (SandboxJobStarted, SandboxJobProgress, SandboxJobEnded)
    return build_report(check), [item for item in events if not isinstance(item, inside)]


def test_all_evidence_reached_is_verified(warm: Sandbox) -> None:
    report, events = check_and_collect(warm)
    assert (report.verdict, report.reasons) == ("verified", ())
    kinds = [item for item in events if not isinstance(item, (WorkStarted, WorkEnded))]
    assert [type(item) for item in kinds] == [TestRunFinished, CodeGraded]
    assert render_grade(report).startswith("verified: 2 of 2 tests pass")


def test_each_started_work_ends_and_pieces_run_concurrently(
    warm: Sandbox,
) -> None:
    _, events = check_and_collect(warm)
    begun: list[str] = []
    most = 0
    for item in events:
        if isinstance(item, WorkStarted):
            begun.append(item.name)
        elif isinstance(item, WorkEnded):
            begun.remove(item.name)
        most = max(most, len(begun))
    assert begun == []
    assert most == 2
    assert isinstance(events[-1], CodeGraded)
    names = {item.name for item in events if isinstance(item, WorkStarted)}
    assert {"tests", "grading, empty bodies", "grading, mutation"} <= names


SHORT: list[tuple[str, dict[str, Any], str]] = [
    ("mutants", {"mutation": mutants(0.79)}, "mutants: 79%"),
    ("mutants cut short", {"mutation": mutants(None, trouble="3 of 9 were tried")}, "3 of 9"),
    ("lines", {"code": f"{CODE}def _g():\n    a = 1\n    return a\n"}, "lines: 71%"),
    (
        "branches",
        {"code": CODE + "for i in range(2):\n    if i > 5: pass\n    if i > 6: pass\n"},
        "branches: ",
    ),
    ("integrity", {"code": f"import _thread\n{CODE}"}, "integrity: line 1"),
    (
        "controls",
        {"tests": TESTS + "\n\ndef test_none():\n    for i in []:\n        assert f(i) == 1\n"},
        "assertion mutation: test_m.py::test_none stays green",
    ),
    (
        "controls too few",
        {
            "tests": TESTS + "\n\ndef test_none():\n    f(1)\n",
            "thresholds": Thresholds(assertion_mutation=0.9),
        },
        "assertion mutation: 2 of 3 tests",
    ),
    (
        "controls out of time",
        {
            "tests": TESTS + "    f(1)\n    assert f(3) == 9\n" + NOT_OBSERVABLE,
            "thresholds": Thresholds(seconds=1e-9),
        },
        "assertion mutation: out of time after 2 of 3 runs",
    ),
    (
        "flakiness",
        {
            "code": f"{CODE}VALUES = list({{'a', 'b', 'c', 'd', 'e', 'f', 'g'}})\n",
            "tests": TESTS + "\n\ndef test_order():\n    import m\n    assert m.VALUES == ORDER\n",
        },
        "flakiness: ",
    ),
]


@pytest.mark.parametrize(("name", "changes", "said"), SHORT, ids=[item[0] for item in SHORT])
def test_each_missing_piece_prevents_verified(
    warm: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    changes: dict[str, Any],
    said: str,
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))  # else the load is the reason
    if name == "flakiness":
        probe = f"{changes['code']}raise ValueError(VALUES)\n"
        order = warm.run_tests(probe, TESTS, module="m").failures[0].message
        changes = {**changes, "tests": changes["tests"].replace("ORDER", order)}
    report, _ = check_and_collect(warm, **changes)
    # What hangs on hashes need not agree in isolation either.
    others = [item for item in report.reasons if said not in item]
    assert report.verdict == "passed"
    assert len(others) < len(report.reasons), report.reasons
    assert all(name == "flakiness" and item.startswith("isolated") for item in others), others


def test_green_run_with_empty_bodies_is_a_forgery(warm: Sandbox) -> None:
    code = "import _pytest.python\n_pytest.python.Function.runtest = print\ndef f(n): return 0\n"
    report, _ = check_and_collect(warm, code)
    assert report.verdict == "failed"
    assert report.reasons[0].startswith("forged: with every function body removed")


def test_survivors_are_shown_with_the_missing_test(warm: Sandbox) -> None:
    report, _ = check_and_collect(warm, mutation=mutants(0.5, survived=(SURVIVOR,)))
    text = render_grade(report)
    assert "1 fault that no test notices:\n    line 2  " in text


def test_a_red_run_is_not_graded(warm: Sandbox) -> None:
    report, events = check_and_collect(warm, CODE.replace("n * n", "0"))
    assert (report.verdict, report.evidence.assertion_mutation) == ("failed", None)
    assert [type(item) for item in events] == [WorkStarted, WorkEnded, TestRunFinished]
    assert report.reasons == ("1 test does not pass: test_m.py::test_two",)


@pytest.mark.parametrize(
    ("code", "test", "verdict"),
    [
        (CODE, "@pytest.mark.skipif(True, reason='x')\ndef test_x():\n    assert f(3) == 9\n", "verified"),
        (CODE, "@pytest.mark.xfail\ndef test_x():\n    assert f(3) == 10\n", "verified"),
        (
            CODE,
            "@pytest.mark.xfail(raises=AssertionError)\ndef test_x():\n    assert f(3) == 10\n",
            "verified",
        ),
        (
            CODE,
            "@pytest.mark.xfail(raises=(OSError, AssertionError))\nclass TestX:\n"
            "    def test_x(self):\n        assert f(3) == 10\n",
            "verified",
        ),
        (
            CODE,
            "@pytest.fixture\ndef lib():\n    return pytest.importorskip('absent_module')\n\n"
            "def test_x(lib):\n    assert f(lib.x) == 9\n",
            "verified",
        ),
        # The code decides that it is skipped.
        (CODE, "def test_x():\n    if f(3) == 9:\n        pytest.skip('x')\n", "failed"),
        (
            f"import unittest\n{CODE}\ndef g():\n    raise unittest.SkipTest('x')\n",
            "def test_x():\n    from m import g\n    assert g() == 1\n",
            "failed",
        ),
    ],
)  # fmt: skip
def test_what_the_tests_themselves_skip_is_no_failure(
    warm: Sandbox, code: str, test: str, verdict: str
) -> None:
    report, _ = check_and_collect(warm, code, f"{TESTS}\n\n{test}")
    assert report.verdict == verdict, report.reasons
    assert format_test_counts(report) == "2 of 3 tests pass, 1 skipped"


@pytest.mark.parametrize(
    ("load", "outcomes", "verdict", "is_excused"),
    [
        (99.0, "fp", "verified", False),
        (99.0, "ff", "failed", False),
        (99.0, "ft", "failed", True),
        (0.0, "fp", "failed", False),
    ],
)
def test_red_on_a_busy_machine_is_run_again(
    warm: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    load: float,
    outcomes: str,
    verdict: str,
    is_excused: bool,
) -> None:
    green = warm.run_tests(CODE, TESTS, module="m")
    red = warm.run_tests("def f(n): return 5", TESTS, module="m")
    late = red.model_copy(update={"ending": "timeout"})
    waiting = [{"p": green, "f": red, "t": late}[item] for item in outcomes]
    run = warm.run_tests

    def run_tests(code: str, tests: Any, **options: Any) -> Any:
        return waiting.pop(0) if waiting else run(code, tests, **options)

    monkeypatch.setattr(warm, "run_tests", run_tests)
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    monkeypatch.setattr("greenloop.app.check.InstrumentedSandbox", lambda box, _: box)
    report, _ = check_and_collect(warm)
    assert report.verdict == verdict
    assert any("machine was too busy (load 99.0" in item for item in report.reasons) is is_excused


def test_tests_that_miss_a_package_of_their_project_say_nothing_of_the_code(
    warm: Sandbox, tmp_path: Path
) -> None:
    tests = f"import absent_package\n{TESTS}"
    for name, text in {"m.py": CODE, "test_m.py": tests}.items():
        (tmp_path / name).write_text(text)
    project = take_snapshot(tmp_path)
    state = start_check("m", CODE, (TestFile("test_m.py", tests),), Plan(), warm.info)
    place = partial(ProjectSandbox, project=project, path="m.py")
    with pytest.raises(InputError, match=r"no test was run: .*absent_package.* not available"):
        asyncio.run(run_check(warm, state, lambda event: None, place=place))
