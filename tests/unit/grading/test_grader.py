"""All evidence together, and the words for what is missing of it."""

from __future__ import annotations

import pytest

from greenloop.errors import SandboxError
from greenloop.grading import grade, grader, shortfalls
from greenloop.grading.config import Plan
from greenloop.grading.grader import grade_run
from greenloop.records import (
    EmptyBodies,
    HeldOutExample,
    Mutation,
    RedPhase,
    SandboxInfo,
    Survivor,
    Thresholds,
)
from greenloop.reporting.evidence.text import render_evidence_lines
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.testsuite import TestFile

CODE = "import gc\ndef double(n): return n * 2\n"
SURVIVOR = Survivor(
    id="1", line=2, function="double", operator="x", diff="", question="f?", reached=True
)
RED = RedPhase(reached=True, failed=2)
TESTS = "from doubling import double\n\n\ndef test_a():\n    assert double(2) == 4\n"


def test_any_code_and_tests_can_be_graded(box: ProcessSandbox) -> None:
    evidence = grade(box, CODE, TESTS)
    assert evidence.empty_bodies == EmptyBodies(reached=True, passed=0, failed=1)
    assert evidence.flakiness is not None
    assert evidence.flakiness.reached
    assert [item.line for item in evidence.integrity] == [1]
    assert (evidence.held_out, evidence.red_phase, evidence.mutation) == (None, None, None)
    assert evidence.thresholds == Thresholds()
    assert evidence.assertion_mutation is not None
    assert (evidence.assertion_mutation.reached, evidence.assertion_mutation.controlled) == (
        True,
        1,
    )
    assert evidence.coverage is not None
    assert (evidence.coverage.line, evidence.coverage.branch) == (1.0, 1.0)
    assert "mutation" in evidence.not_measured
    assert evidence.seconds.keys() >= {
        "empty_bodies",
        "assertion_mutation",
        "coverage",
        "flakiness",
    }


def test_what_is_known_from_before_the_run_is_handed_on(box: ProcessSandbox) -> None:
    files = [TestFile("test_doubling.py", TESTS)]
    run = box.run_tests(CODE, files, module="doubling")
    wrong = HeldOutExample(call="double(2)", returns="5")
    graded = grade_run(
        box,
        CODE,
        files,
        "doubling",
        run=run,
        held_out=[wrong, HeldOutExample(call="double('a')", returns="'aa'")],
        red_phase=RED,
        untested_requirements=["R2"],
    )
    assert graded.disagreements == (wrong,)
    assert graded.evidence.held_out is not None
    assert (graded.evidence.held_out.agreed, graded.evidence.held_out.total) == (1, 2)
    assert graded.evidence.red_phase == RED
    assert graded.evidence.requirements_untested == ("R2",)


def test_mutants_are_asked_for_as_the_plan_says(
    box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    walled = SandboxInfo(backend="a wall", isolation="")
    monkeypatch.setattr(ProcessSandbox, "info", walled)
    asked: dict[str, object] = {}

    def mutation(*given: object, **how: object) -> Mutation:
        asked.update(how)
        return Mutation(score=0.5, killed=1, survived=(SURVIVOR,))

    files = [TestFile("test_doubling.py", TESTS)]
    run = box.run_tests(CODE, files, module="doubling")
    plan = Plan(Thresholds(seconds=7), mutants=3, seed=5, mutation=mutation)
    graded = grade_run(box, CODE, files, "doubling", run=run, plan=plan)
    assert asked == {"module": "doubling", "max_mutants": 3, "seed": 5, "budget_s": 7}
    assert graded.evidence.mutation == Mutation(score=0.5, killed=1, survived=(SURVIVOR,))
    assert "mutation" not in graded.evidence.not_measured


def test_without_a_wall_no_faults_are_run(box: ProcessSandbox) -> None:
    files = [TestFile("test_doubling.py", TESTS)]
    run = box.run_tests(CODE, files, module="doubling")
    evidence = grade_run(box, CODE, files, "doubling", run=run, plan=Plan(mutants=None)).evidence
    assert evidence.mutation is None
    assert "without a wall" in evidence.not_measured["mutation"]


def _failing(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    def fails(*_: object, **__: object) -> None:
        raise SandboxError("it died\nget another")

    for name in names:
        monkeypatch.setattr(grader, name, fails)


def test_a_piece_in_which_the_sandbox_fails_leaves_the_others(
    box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = {
        "flakiness": "rerun_tests",
        "split": "run_isolated",
        "memorization": "replay_calls_without_tests",
        "assertion_mutation": "measure_assertion_mutation",
        "coverage": "measure_coverage",
        "held_out": "check_held_out_examples",
    }
    _failing(monkeypatch, *failing.values())
    files = [TestFile("test_doubling.py", TESTS)]
    run = box.run_tests(CODE, files, module="doubling")
    held_out = [HeldOutExample(call="double(2)", returns="4")]
    found = grade_run(box, CODE, files, "doubling", run=run, held_out=held_out).evidence
    assert found.empty_bodies == EmptyBodies(reached=True, passed=0, failed=1)
    assert all(getattr(found, name) is None for name in failing)
    why = "the sandbox failed: it died"
    assert {name: found.not_measured[name] for name in failing} == dict.fromkeys(failing, why)
    said = shortfalls(found, contracted=False)
    named = {"held_out": "held-out examples"}
    titles = {name: named.get(name, name.replace("_", " ")) for name in failing}
    assert {f"{title}: not measured: {why}" for title in titles.values()} <= set(said)
    lines = "\n".join(render_evidence_lines(found))
    assert lines.count(f"not measured: {why}") == len(failing) + 1  # lines and branches


def test_where_nothing_can_be_run_there_is_no_grade(
    box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    _failing(monkeypatch, "measure_empty_bodies", "rerun_tests")
    files = [TestFile("test_doubling.py", TESTS)]
    run = box.run_tests(CODE, files, module="doubling")
    with pytest.raises(SandboxError, match="it died"):
        grade_run(box, CODE, files, "doubling", run=run)
