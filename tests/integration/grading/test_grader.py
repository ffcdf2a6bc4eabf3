"""All evidence together, and the reasons for what is missing."""

from collections.abc import Callable
from dataclasses import replace
from pkgutil import resolve_name
from typing import Any, get_args, get_type_hints

import pytest

from greenloop.errors import SandboxError
from greenloop.grading import GradingContext, Plan, grade, shortfalls
from greenloop.grading.grader import grade_run
from greenloop.records import (
    EmptyBodies,
    Evidence,
    ExtraEvidence,
    HeldOutExample,
    Mutation,
    SandboxInfo,
    Survivor,
    Thresholds,
)
from greenloop.records.evidence import piece_types
from greenloop.reporting.evidence.text import render_evidence_lines
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.syntax.parse import UNREADABLE
from greenloop.testsuite import TestFile

CODE = "import _thread\ndef double(n): return n * 2\n"
SURVIVOR = Survivor(id="1", line=2, function="double", operator="x", diff="", reached=True)
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


def green(box: ProcessSandbox, plan: Plan | None = None, **known: Any) -> GradingContext:
    files = [TestFile("test_doubling.py", TESTS)]
    run = box.run_tests(CODE, files, module="doubling")
    return GradingContext(box, CODE, files, "doubling", run, plan or Plan(), **known)


def test_held_out_examples_that_fail_are_left_in_the_context(box: ProcessSandbox) -> None:
    wrong = HeldOutExample(call="double(2)", returns="5")
    right = HeldOutExample(call="double('a')", returns="'aa'")
    context = green(box, held_out=[wrong, right])
    found = grade_run(context).held_out
    assert context.disagreements == (wrong,)
    assert found is not None
    assert (found.agreed, found.total) == (1, 2)


def test_mutants_are_measured_as_planned(
    box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = SandboxInfo(backend="some", isolation="")
    monkeypatch.setattr(ProcessSandbox, "info", info)
    options: dict[str, object] = {}

    def mutation(*given: object, **how: object) -> Mutation:
        options.update(how)
        return Mutation(score=0.5, killed=1, survived=(SURVIVOR,))

    monkeypatch.setattr("greenloop.grading.mutants.measure_mutation", mutation)
    evidence = grade_run(green(box, Plan(Thresholds(seconds=7), mutants=3, seed=5)))
    assert options == {
        "module": "doubling",
        "max_mutants": 3,
        "seed": 5,
        "budget_s": 7,
        "lanes": None,
        "known": (),
    }
    assert evidence.mutation == Mutation(score=0.5, killed=1, survived=(SURVIVOR,))
    assert "mutation" not in evidence.not_measured


def test_without_a_sandbox_no_mutants_are_run(box: ProcessSandbox) -> None:
    evidence = grade_run(green(box, Plan(mutants=None)))
    assert evidence.mutation is None
    assert "without a sandbox" in evidence.not_measured["mutation"]


def _failing(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    def fails(*_: object, **__: object) -> None:
        raise SandboxError("it died\nget another")

    for name in names:
        monkeypatch.setattr(name.replace(":", "."), fails)


def test_a_piece_in_which_the_sandbox_fails_leaves_the_others(
    box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("flakiness", "memorization", "assertion_mutation", "coverage", "held_out")
    failing = {name: piece_types()[name].measured_by for name in names}
    _failing(monkeypatch, *failing.values())
    found = grade_run(green(box, held_out=[HeldOutExample(call="double(2)", returns="4")]))
    assert found.empty_bodies == EmptyBodies(reached=True, passed=0, failed=1)
    assert all(getattr(found, name) is None for name in failing)
    why = "the sandbox failed: it died"
    assert {name: found.not_measured[name] for name in failing} == dict.fromkeys(failing, why)
    said = shortfalls(found, contracted=False)
    titles = [piece_types()[name].title for name in failing]
    assert {f"{title}: not measured: {why}" for title in titles} <= set(said)
    lines = "\n".join(render_evidence_lines(found))
    assert lines.count(f"not measured: {why}") == len(failing) + 1  # lines and branches


def test_code_of_newer_syntax_is_not_said_to_be_free_of_forgeries(box: ProcessSandbox) -> None:
    found = grade_run(replace(green(box), code=CODE + "match match:=\n"))
    assert f"integrity: not measured: {UNREADABLE}" in shortfalls(found, contracted=False)
    (row,) = (item for item in found.summary() if item.name == "integrity")
    assert row.reached is None


def test_where_nothing_can_be_run_there_is_no_grade(
    box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    _failing(
        monkeypatch, *(piece_types()[name].measured_by for name in ("empty_bodies", "flakiness"))
    )
    context = green(box)
    with pytest.raises(SandboxError, match="it died"):
        grade_run(context)


class Plugin:
    """An entry point of the group `greenloop.evidence`."""

    name = "complexity"
    value = "example:measure"

    def __init__(self, result: object) -> None:
        self.result = result

    def load(self) -> Callable[[GradingContext], object]:
        return self.measure

    def measure(self, context: GradingContext) -> object:
        assert context.first_run.passed
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def grade_with(plugin: Plugin, box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch) -> Evidence:
    def entry_points(group: str) -> list[Plugin]:
        return [plugin] if group == "greenloop.evidence" else []

    monkeypatch.setattr("greenloop.plugins.entry_points", entry_points)
    evidence = grade(box, CODE, TESTS)
    return Evidence.model_validate_json(evidence.model_dump_json())


def test_a_plugin_adds_a_piece_of_evidence(
    box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = ExtraEvidence(reached=False, text="9 branches", values={"branches": 9})
    evidence = grade_with(Plugin(measured), box, monkeypatch)
    assert evidence.extra == {"complexity": measured.model_copy(update={"name": "complexity"})}
    assert "complexity: 9 branches" in shortfalls(evidence, contracted=False)
    assert any("SHORT  complexity" in line for line in render_evidence_lines(evidence))
    assert "extra.complexity" in evidence.seconds
    enough = grade_with(Plugin(ExtraEvidence(reached=True, text="1")), box, monkeypatch)
    assert not any("complexity" in reason for reason in shortfalls(enough))


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("no branches", "complexity: not measured: no branches"),
        (ValueError("why"), "complexity: not measured: the plug-in failed: ValueError: why"),
        (5, "complexity: not measured: the plug-in returned no evidence"),
        (None, ""),
    ],
)
def test_a_plugin_without_a_result_is_a_shortfall_unless_it_does_not_apply(
    box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch, result: object, reason: str
) -> None:
    evidence = grade_with(Plugin(result), box, monkeypatch)
    found = [item for item in shortfalls(evidence, contracted=False) if "complexity" in item]
    assert found == ([reason] if reason else [])


def test_every_piece_names_a_measurement_that_returns_its_record() -> None:
    for key, kind in piece_types().items():
        if kind.measured_by:
            returned = get_type_hints(resolve_name(kind.measured_by))["return"]
            assert kind in (returned, *get_args(returned)), key
