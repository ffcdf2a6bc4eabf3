"""Code and tests that are there already: run, graded, reported. No model has a part in it."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from greenloop.errors import GreenloopError, InputError
from greenloop.events import Emit, Graded, TestsRun
from greenloop.events.progress import at_work, from_threads
from greenloop.grading import Plan, forgery, shortfalls
from greenloop.grading.grader import grade_run
from greenloop.grading.unreported_tests import unreported
from greenloop.records import (
    Artifacts,
    Environment,
    Evidence,
    Report,
    SandboxInfo,
    TestEntry,
    TestRun,
    Timings,
    Usage,
    Verdict,
)
from greenloop.sandbox import Sandbox
from greenloop.sandbox.asyncio_bridge import in_sandbox
from greenloop.sandbox.views.instrumented import told as told_sandbox
from greenloop.testsuite import Suite, TestFile
from greenloop.workflow.candidates import told
from greenloop.workflow.report_builder import began, installed, own_version

_PACKAGES = ("pytest",)
_SHOWN = 5


@dataclass
class Check:
    """What is checked, and what is known of it so far."""

    module: str
    code: str
    tests: tuple[TestFile, ...]
    plan: Plan
    sandbox: SandboxInfo
    run: TestRun | None = None
    evidence: Evidence | None = None
    started: float = field(default_factory=time.monotonic)
    sandbox_s: float = 0.0
    grading_s: float = 0.0


async def run_check(box: Sandbox, check: Check, emit: Emit) -> None:
    """Runs the tests, and grades a green one.

    Raises:
        SandboxError: the sandbox cannot run anything.
        InputError: there is no test in the files.
    """
    started, box = time.monotonic(), told_sandbox(box, emit)
    run = partial(box.run_tests, check.code, check.tests, module=check.module)
    with at_work(emit, "tests"):
        check.run = await in_sandbox(box, run)
    check.sandbox_s = time.monotonic() - started
    emit(TestsRun(check.run))
    if check.run.ending == "finished" and not (check.run.tests or check.run.failures):
        raise InputError(f"no tests were collected from {', '.join(i.name for i in check.tests)}")
    if not check.run.passed:
        return
    started = time.monotonic()
    given = (box, check.code, check.tests, check.module)
    work = partial(grade_run, *given, run=check.run, plan=check.plan, emit=from_threads(emit))
    try:
        graded = await in_sandbox(box, work)
    finally:
        check.grading_s = time.monotonic() - started
    check.evidence = graded.evidence
    emit(Graded(check.evidence))


def check_report(check: Check, broken_off: GreenloopError | None = None) -> Report:
    """The report, with the keys that `make` has. `broken_off` is why it ended early."""
    verdict, reasons = _verdict(check, broken_off)
    run, total_s = check.run, time.monotonic() - check.started
    return Report(
        specification="",
        final_code=check.code,
        test_code=_joined(check.tests),
        tests_passed=verdict != "failed",
        test_output=run.output if run else "",
        iterations=0,
        verdict=verdict,
        reasons=reasons,
        tests=tuple(_entries(check)),
        evidence=check.evidence or Evidence(thresholds=check.plan.thresholds),
        usage=Usage(cost_usd=0.0),
        timings=Timings(
            started_at=began(total_s),
            total_s=round(total_s, 3),
            sandbox_s=round(check.sandbox_s, 3),
            grading_s=round(check.grading_s, 3),
        ),
        environment=Environment(
            greenloop=own_version(),
            python=platform.python_version(),
            model="none",
            sandbox=check.sandbox,
            packages={name: found for name in _PACKAGES if (found := installed(name))},
        ),
        artifacts=Artifacts(),
        command="check",
        module=check.module,
        failures=told(run.failures) if run else (),
    )


def _verdict(check: Check, broken_off: GreenloopError | None) -> tuple[Verdict, tuple[str, ...]]:
    why = (f"{type(broken_off).__name__}: {broken_off}",) if broken_off else ()
    if check.run is None or not check.run.passed:
        return "failed", why or tuple(_why_red(check.run) if check.run else ())
    if gone := unreported(check.tests, check.run):
        return "failed", (f"forged: {gone[0]} stands in the tests but was never reported", *why)
    if check.evidence is None:
        return "passed", (*why, "the green was not graded")
    if forged := forgery(check.evidence):
        return "failed", (f"forged: {forged}", *why)
    short = (*why, *shortfalls(check.evidence, contracted=False))
    return ("passed" if short else "verified"), short


def _why_red(run: TestRun) -> Sequence[str]:
    said: list[str] = []
    failing = sorted(run.failing)
    if failing:
        shown = ", ".join(failing[:_SHOWN]) + (", …" if len(failing) > _SHOWN else "")
        said.append(f"{len(failing)} tests do not pass: {shown}")
    if run.ending != "finished":
        said.append(f"the run ended: {run.ending}: {run.detail}")
    return said or [f"the run was not green (exit status {run.exit_status})"]


def _entries(check: Check) -> Sequence[TestEntry]:
    suite = Suite(check.module, given=check.tests)
    return [
        TestEntry(
            id=test.id,
            requirements=suite.requirements(test.id),
            origin="given",
            outcome=test.outcome,
            duration_s=round(test.duration_s, 6),
        )
        for test in (check.run.tests if check.run else ())
    ]


def _joined(tests: Sequence[TestFile]) -> str:
    if len(tests) == 1:
        return tests[0].code
    return "\n\n".join(f"# --- {item.name}\n{item.code}" for item in tests)
