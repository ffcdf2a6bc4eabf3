"""Results that depend on time: on a busy machine they are measured again, alone, and not blamed."""

import ast
from collections.abc import Sequence

import pytest

from greenloop.grading import GradingContext, Plan, shortfalls
from greenloop.grading.collector import EvidenceCollector
from greenloop.grading.grader import grade_run
from greenloop.records import Evidence, Flakiness
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.syntax.parse import parse_or_none
from greenloop.testsuite import TestFile

CODE = "def double(n):\n    return n * 2\n"
TESTS = "from m import double\n\n\ndef test_a():\n    assert double(2) == 4\n"
STEADY = Flakiness(reached=True, order_seed=1, hash_seed=1)
DIFFERING = Flakiness(reached=False, order_seed=1, hash_seed=1, differing=("test_m.py::test_a",))
LATE = Flakiness(reached=False, order_seed=1, hash_seed=1, cut_short="out of time after 3 tests")
BUSY, IDLE = (99.0, 1.0, 1.0), (0.1, 9.0, 9.0)


def grade_under_load(
    box: ProcessSandbox,
    patch: pytest.MonkeyPatch,
    results: Sequence[Flakiness],
    load: tuple[float, float, float],
) -> tuple[Evidence, int]:
    """Return the evidence where flakiness gives these results in turn, and how many were left."""
    waiting = list(results)

    def measure(context: GradingContext) -> Flakiness:
        return waiting.pop(0)

    patch.setattr("greenloop.grading.flakiness.measure", measure)
    patch.setattr("greenloop.grading.coverage.measurement.measure", lambda _: "not here")
    patch.setattr("os.getloadavg", lambda: load)
    patch.setattr("os.cpu_count", lambda: 8)
    files = [TestFile("test_m.py", TESTS)]
    run = box.run_tests(CODE, files, module="m")
    plan = Plan(mutants=0)
    return grade_run(GradingContext(box, CODE, files, "m", run, plan)), len(waiting)


@pytest.mark.parametrize("first", [DIFFERING, LATE])
def test_what_differs_only_beside_others_is_steady(
    box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch, first: Flakiness
) -> None:
    evidence, left = grade_under_load(box, monkeypatch, [first, STEADY], BUSY)
    assert (evidence.flakiness, left) == (STEADY, 0)


@pytest.mark.parametrize(
    ("again", "why"),
    [(DIFFERING, "different outcomes in a second run: test_m.py::test_a"), (LATE, LATE.cut_short)],
)
def test_what_differs_again_is_blamed_on_the_machine(
    box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch, again: Flakiness, why: str
) -> None:
    evidence, _ = grade_under_load(box, monkeypatch, [DIFFERING, again], BUSY)
    assert evidence.flakiness is not None
    assert not evidence.flakiness.reached
    said = f"flakiness: machine too busy (load 99.0 on 8 processors): {why}"
    assert said in shortfalls(evidence, contracted=False)
    rows = {row.name: row.brief for row in evidence.summary()}
    assert rows["flakiness"] == "cut short"


def test_an_idle_machine_is_no_excuse(box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence, left = grade_under_load(box, monkeypatch, [DIFFERING, STEADY], IDLE)
    assert (evidence.flakiness, left) == (DIFFERING, 1)


def test_what_holds_is_not_measured_again(
    box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence, left = grade_under_load(box, monkeypatch, [STEADY, DIFFERING], BUSY)
    assert (evidence.flakiness, left) == (STEADY, 1)


def test_a_race_of_the_parser_is_measured_again() -> None:
    calls: list[int] = []

    def measure() -> str:
        calls.append(1)
        if len(calls) < 4:
            raise SystemError("AST constructor recursion depth mismatch (before=45, after=36)")
        return "measured"

    collector = EvidenceCollector()
    assert collector.measure("isolated", measure) is None
    assert collector.not_measured == {"isolated": "measured"}


def test_source_is_parsed_again_after_a_race_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    failures = [SystemError("AST constructor recursion depth mismatch (before=39, after=37)")] * 3

    def parse(code: str) -> ast.Module:
        if failures:
            raise failures.pop()
        return real_parse(code)

    real_parse = ast.parse
    monkeypatch.setattr(ast, "parse", parse)
    found = parse_or_none("x = 1")
    assert found is not None
    assert ast.unparse(found) == "x = 1"
