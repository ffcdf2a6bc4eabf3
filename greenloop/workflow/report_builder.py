"""The report of a run, from what it knows: at its end, or wherever it broke off."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

from greenloop.errors import GreenloopError
from greenloop.grading import forgery, shortfalls
from greenloop.records import (
    Artifacts,
    Environment,
    ProducedFileInfo,
    Report,
    ScriptResult,
    TestEntry,
    TestRun,
    Timings,
    Verdict,
)
from greenloop.workflow.candidates import truncate_failures
from greenloop.workflow.script.checklist import Checklist
from greenloop.workflow.state import RunState

_SCRIPT_LIMITATION = "a script is held to what its runs show: its checks prove no more than that"
_REPORTED_PACKAGES = ("langchain", "langchain-core", "langchain-openai", "pytest", "ruff", "black")


def build_report(state: RunState, error: GreenloopError | None = None) -> Report:
    """The report: the best candidate so far, whatever happened. `broken_off` is why it ended early."""
    run, best = _select_final_run(state), state.candidates.best
    verdict, reasons = _decide_verdict(state, error)
    return Report(
        specification=state.request.specification,
        final_code=best.code if best else "",
        test_code=state.suite.code if state.suite else "",
        tests_passed=verdict != "failed",
        test_output=run.output if run else "",
        iterations=state.repairs,
        verdict=verdict,
        reasons=reasons,
        command=state.request.kind,
        original=state.request.original.text if state.request.original else "",
        contract=state.contract,
        tests=tuple(_build_test_entries(state, run)),
        review=state.review.findings,
        attempts=tuple(state.candidates.attempts),
        evidence=state.evidence.model_copy(update={"red_phase": state.red_phase}),
        script=_build_script_result(state),
        patches=state.search.patches if state.search else (),
        usage=state.budget.to_usage(),
        timings=_build_timings(state),
        environment=build_environment(state),
        artifacts=Artifacts(),
        module=state.contract.module if state.contract else state.request.module or "",
        failures=(
            truncate_failures(item for item in run.failures if state.is_active(item.test))
            if run
            else ()
        ),
        disputes=tuple(state.disputes),
    )


def _select_final_run(state: RunState) -> TestRun | None:
    best = state.candidates.best
    return state.green_run or (best.run if best else None)


def _decide_verdict(
    state: RunState, error: GreenloopError | None
) -> tuple[Verdict, tuple[str, ...]]:
    notes = tuple(state.notes)
    if state.green_run is not None and (why := _find_forgery(state)):
        return "failed", (f"forged: {why}", *notes)
    if state.green_run is None:
        return "failed", (*_failure_reasons(state, error), *notes)
    short = _unverified_reasons(state)
    if error is not None:
        short = (f"grading broke off: {error}", *short)
    return ("passed" if short or notes else "verified"), (*short, *notes)


def _unverified_reasons(state: RunState) -> tuple[str, ...]:
    """Why a green is not `verified`."""
    if state.request.script is None:
        return shortfalls(state.evidence, contracted=state.contract is not None)
    steady = state.evidence.flakiness
    differing = ", ".join(steady.differing) if steady else ""
    unsteady = (f"a second run showed otherwise: {differing}",) if differing else ()
    return (_SCRIPT_LIMITATION, *unsteady)


def _build_script_result(state: RunState) -> ScriptResult | None:
    request, best = state.request.script, state.candidates.best
    run = state.script_runs.get(best.code) if best else None
    if request is None or run is None or not isinstance(state.suite, Checklist):
        return None
    return ScriptResult(
        name=request.name,
        exit_status=run.exit_status,
        ending=run.ending,
        stdout=run.stdout,
        stdout_cut=run.stdout_cut,
        stderr=run.stderr,
        made=tuple(ProducedFileInfo(path=i.path, size=i.size, sha256=i.sha256) for i in run.made),
        network=run.network,
        checks=state.suite.checks,
    )


def _find_forgery(state: RunState) -> str:
    """Why a green is not the code's own; '' where nothing speaks against it."""
    return forgery(state.evidence) or state.forgery_reason


def _failure_reasons(state: RunState, error: GreenloopError | None) -> Iterator[str]:
    if error is not None:
        yield f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    best = state.candidates.best
    if best is None or best.run is None:
        if error is None:
            yield "no code was run"
        return
    failing = sorted(best.failing_tests(state.is_active))
    if failing:
        shown = ", ".join(failing[:5]) + (", …" if len(failing) > 5 else "")
        what = "check" if state.request.script else "test"
        verb = f"{what} does" if len(failing) == 1 else f"{what}s do"
        yield f"{len(failing)} {verb} not pass: {shown}"
    if best.run.ending != "finished":
        yield f"the best run ended: {best.run.ending}: {best.run.detail}"
    elif best.run.limits_hit:
        yield f"the best run {best.run.detail}"
    if state.request.kind == "heal" and best.kind == "repair" and best.remark:
        yield f"said of the best attempt: {best.remark}"
    if error is None:
        yield f"repairs made: {state.repairs}"


def _build_test_entries(state: RunState, run: TestRun | None) -> Iterator[TestEntry]:
    suite = state.suite
    if suite is None:
        return
    for test in run.tests if run else ():
        if suite.is_active(test.id):
            yield TestEntry(
                id=test.id,
                requirements=suite.requirements(test.id),
                origin=suite.origin(test.id),
                outcome=test.outcome,
                duration_s=round(test.duration_s, 6),
                disputed=suite.name_of(test.id) in state.judged_tests
                and suite.origin(test.id) != "given",
            )
    reported = {item.id for item in run.tests} if run else set()
    for missing in sorted((state.expected.ids if state.expected else set()) - reported):
        yield TestEntry(
            id=missing,
            requirements=suite.requirements(missing),
            origin=suite.origin(missing),
            outcome="not run",
        )
    for item in suite.dropped:
        yield TestEntry(
            id=f"{suite.file_name}::{item.name}" if suite.file_name else item.name,
            requirements=item.requirements,
            origin=item.origin,
            outcome="dropped",
            disputed=item.disputed,
            judgement=item.reason,
        )
    yield from _build_held_out_entries(state)


def _build_held_out_entries(state: RunState) -> Iterator[TestEntry]:
    """Held-out examples that are still held out: they agreed, or were never asked."""
    result = state.evidence.held_out
    for number, item in enumerate(state.active_tests.held_out, 1):
        asked = result is not None and item.call not in result.invalid
        outcome = "invalid" if result and not asked else "passed" if result else "not run"
        yield TestEntry(
            id=f"held_out::{number}: {item.call}",
            requirements=(item.requirement,) if item.requirement else (),
            origin="held_out",
            outcome=outcome,
        )


def _build_timings(state: RunState) -> Timings:
    total_s = time.monotonic() - state.started
    return Timings(
        started_at=format_start_time(total_s),
        total_s=round(total_s, 3),
        model_s=round(state.budget.model_s, 3),
        sandbox_s=round(state.sandbox_s, 3),
        grading_s=round(state.grading_s, 3),
    )


def format_start_time(seconds: float) -> str:
    """The day and time in UTC at which something began that many seconds ago."""
    at = datetime.now(timezone.utc) - timedelta(seconds=seconds)
    return at.isoformat(timespec="seconds")


def build_environment(state: RunState) -> Environment:
    """What the run was made with: our own packages, and those that the code could use."""
    ours = {name: found for name in _REPORTED_PACKAGES if (found := installed_version(name))}
    return Environment(
        greenloop=greenloop_version(),
        python=platform.python_version(),
        model=state.model,
        sandbox=state.sandbox,
        packages={**dict(state.packages.installed.versions), **ours},
    )


def greenloop_version() -> str:
    return installed_version("greenloop") or "not installed"


@lru_cache(maxsize=64)  # it looks through all that is installed
def installed_version(package: str) -> str | None:
    """A package's version, None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
