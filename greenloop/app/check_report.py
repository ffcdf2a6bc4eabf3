"""Code and tests that are there already: run, graded, reported. No model has a part in it."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from greenloop.errors import GreenloopError, InputError
from greenloop.events import CodeGraded, EventSink, TestRunFinished
from greenloop.events.progress import create_thread_safe_sink, progress_span
from greenloop.grading import Plan, forgery, shortfalls
from greenloop.grading.grader import grade_run
from greenloop.grading.unreported_tests import find_unreported_tests
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
from greenloop.sandbox.asyncio_bridge import run_in_sandbox_thread
from greenloop.sandbox.views.instrumented import with_events as told_sandbox
from greenloop.testsuite import Suite, TestFile
from greenloop.workflow.candidates import truncate_failures
from greenloop.workflow.report_builder import (
    format_start_time,
    greenloop_version,
    installed_version,
)

_REPORTED_PACKAGES = ("pytest",)
_MAX_SHOWN = 5


@dataclass
class CheckState:
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


async def run_check(box: Sandbox, check: CheckState, emit: EventSink) -> None:
    """Runs the tests, and grades a green one.

    Raises:
        SandboxError: the sandbox cannot run anything.
        InputError: there is no test in the files.
    """
    started, box = time.monotonic(), told_sandbox(box, emit)
    run = partial(box.run_tests, check.code, check.tests, module=check.module)
    with progress_span(emit, "tests"):
        check.run = await run_in_sandbox_thread(box, run)
    check.sandbox_s = time.monotonic() - started
    emit(TestRunFinished(check.run))
    if check.run.ending == "finished" and not (check.run.tests or check.run.failures):
        raise InputError(f"no tests were collected from {', '.join(i.name for i in check.tests)}")
    if not check.run.passed:
        return
    started = time.monotonic()
    given = (box, check.code, check.tests, check.module)
    work = partial(
        grade_run, *given, run=check.run, plan=check.plan, emit=create_thread_safe_sink(emit)
    )
    try:
        graded = await run_in_sandbox_thread(box, work)
    finally:
        check.grading_s = time.monotonic() - started
    check.evidence = graded.evidence
    emit(CodeGraded(check.evidence))


def build_check_report(check: CheckState, error: GreenloopError | None = None) -> Report:
    """The report, with the keys that `make` has. `broken_off` is why it ended early."""
    verdict, reasons = _decide_verdict(check, error)
    run, total_s = check.run, time.monotonic() - check.started
    return Report(
        specification="",
        final_code=check.code,
        test_code=_join_files(check.tests),
        tests_passed=verdict != "failed",
        test_output=run.output if run else "",
        iterations=0,
        verdict=verdict,
        reasons=reasons,
        tests=tuple(_build_test_entries(check)),
        evidence=check.evidence or Evidence(thresholds=check.plan.thresholds),
        usage=Usage(cost_usd=0.0),
        timings=Timings(
            started_at=format_start_time(total_s),
            total_s=round(total_s, 3),
            sandbox_s=round(check.sandbox_s, 3),
            grading_s=round(check.grading_s, 3),
        ),
        environment=Environment(
            greenloop=greenloop_version(),
            python=platform.python_version(),
            model="none",
            sandbox=check.sandbox,
            packages={
                name: found for name in _REPORTED_PACKAGES if (found := installed_version(name))
            },
        ),
        artifacts=Artifacts(),
        command="check",
        module=check.module,
        failures=truncate_failures(run.failures) if run else (),
    )


def _decide_verdict(
    check: CheckState, error: GreenloopError | None
) -> tuple[Verdict, tuple[str, ...]]:
    why = (f"{type(error).__name__}: {error}",) if error else ()
    if check.run is None or not check.run.passed:
        return "failed", why or tuple(_failure_reasons(check.run) if check.run else ())
    if gone := find_unreported_tests(check.tests, check.run):
        return "failed", (f"forged: {gone[0]} stands in the tests but was never reported", *why)
    if check.evidence is None:
        return "passed", (*why, "the green was not graded")
    if forged := forgery(check.evidence):
        return "failed", (f"forged: {forged}", *why)
    short = (*why, *shortfalls(check.evidence, contracted=False))
    return ("passed" if short else "verified"), short


def _failure_reasons(run: TestRun) -> Sequence[str]:
    said: list[str] = []
    failing = sorted(run.failing_tests)
    if failing:
        shown = ", ".join(failing[:_MAX_SHOWN]) + (", …" if len(failing) > _MAX_SHOWN else "")
        said.append(f"{len(failing)} tests do not pass: {shown}")
    if run.ending != "finished":
        said.append(f"the run ended: {run.ending}: {run.detail}")
    return said or [f"the run was not green (exit status {run.exit_status})"]


def _build_test_entries(check: CheckState) -> Sequence[TestEntry]:
    suite = Suite(check.module, user_files=check.tests)
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


def _join_files(tests: Sequence[TestFile]) -> str:
    if len(tests) == 1:
        return tests[0].code
    return "\n\n".join(f"# --- {item.name}\n{item.code}" for item in tests)
