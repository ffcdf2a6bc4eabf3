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
    Made,
    Report,
    ScriptResult,
    TestEntry,
    TestRun,
    Timings,
    Verdict,
)
from greenloop.workflow.candidates import told
from greenloop.workflow.script.checklist import Checklist
from greenloop.workflow.state import RunState

_ONE_RUN = "a script is held to what its runs show: its checks prove no more than that"
_PACKAGES = ("langchain", "langchain-core", "langchain-openai", "pytest", "ruff", "black")


def report_of(state: RunState, broken_off: GreenloopError | None = None) -> Report:
    """The report: the best candidate so far, whatever happened. `broken_off` is why it ended early."""
    run, best = _final_run(state), state.history.best
    verdict, reasons = _verdict(state, broken_off)
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
        tests=tuple(_tests(state, run)),
        review=state.review.findings,
        attempts=tuple(state.history.attempts),
        evidence=state.evidence.model_copy(update={"red_phase": state.red_phase}),
        script=_script(state),
        patches=state.search.patches if state.search else (),
        usage=state.ledger.usage(),
        timings=_timings(state),
        environment=environment(state),
        artifacts=Artifacts(),
        module=state.contract.module if state.contract else state.request.module or "",
        failures=told(item for item in run.failures if state.stands(item.test)) if run else (),
        disputes=tuple(state.disputes),
    )


def _final_run(state: RunState) -> TestRun | None:
    best = state.history.best
    return state.green or (best.run if best else None)


def _verdict(state: RunState, broken_off: GreenloopError | None) -> tuple[Verdict, tuple[str, ...]]:
    notes = tuple(state.notes)
    if state.green is not None and (why := _why_forged(state)):
        return "failed", (f"forged: {why}", *notes)
    if state.green is None:
        return "failed", (*_why_red(state, broken_off), *notes)
    short = _short(state)
    if broken_off is not None:
        short = (f"grading broke off: {broken_off}", *short)
    return ("passed" if short or notes else "verified"), (*short, *notes)


def _short(state: RunState) -> tuple[str, ...]:
    """Why a green is not `verified`."""
    if state.request.script is None:
        return shortfalls(state.evidence, contracted=state.contract is not None)
    steady = state.evidence.flakiness
    differing = ", ".join(steady.differing) if steady else ""
    unsteady = (f"a second run showed otherwise: {differing}",) if differing else ()
    return (_ONE_RUN, *unsteady)


def _script(state: RunState) -> ScriptResult | None:
    request, best = state.request.script, state.history.best
    run = state.script_runs.of(best.code) if best else None
    if request is None or run is None or not isinstance(state.suite, Checklist):
        return None
    return ScriptResult(
        name=request.name,
        exit_status=run.exit_status,
        ending=run.ending,
        stdout=run.stdout,
        stdout_cut=run.stdout_cut,
        stderr=run.stderr,
        made=tuple(Made(path=i.path, size=i.size, sha256=i.sha256) for i in run.made),
        network=run.network,
        checks=state.suite.checks,
    )


def _why_forged(state: RunState) -> str:
    """Why a green is not the code's own; '' where nothing speaks against it."""
    return forgery(state.evidence) or state.forged


def _why_red(state: RunState, broken_off: GreenloopError | None) -> Iterator[str]:
    if broken_off is not None:
        yield f"{type(broken_off).__name__}: {str(broken_off).partition(chr(10))[0]}"
    best = state.history.best
    if best is None or best.run is None:
        if broken_off is None:
            yield "no code was run"
        return
    failing = sorted(best.failing(state.stands))
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
    if broken_off is None:
        yield f"repairs made: {state.repairs}"


def _tests(state: RunState, run: TestRun | None) -> Iterator[TestEntry]:
    suite = state.suite
    if suite is None:
        return
    for test in run.tests if run else ():
        if suite.stands(test.id):
            yield TestEntry(
                id=test.id,
                requirements=suite.requirements(test.id),
                origin=suite.origin(test.id),
                outcome=test.outcome,
                duration_s=round(test.duration_s, 6),
                disputed=suite.name_of(test.id) in state.judged
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
            judgement=item.why,
        )
    yield from _sealed(state)


def _sealed(state: RunState) -> Iterator[TestEntry]:
    """Sealed examples that are still sealed: they agreed, or were never asked."""
    result = state.evidence.sealed
    for number, item in enumerate(state.standing.sealed, 1):
        asked = result is not None and item.call not in result.invalid
        outcome = "invalid" if result and not asked else "passed" if result else "not run"
        yield TestEntry(
            id=f"sealed::{number}: {item.call}",
            requirements=(item.requirement,) if item.requirement else (),
            origin="sealed",
            outcome=outcome,
        )


def _timings(state: RunState) -> Timings:
    total_s = time.monotonic() - state.started
    return Timings(
        started_at=began(total_s),
        total_s=round(total_s, 3),
        model_s=round(state.ledger.model_s, 3),
        sandbox_s=round(state.sandbox_s, 3),
        grading_s=round(state.grading_s, 3),
    )


def began(seconds: float) -> str:
    """The day and time in UTC at which something began that many seconds ago."""
    at = datetime.now(timezone.utc) - timedelta(seconds=seconds)
    return at.isoformat(timespec="seconds")


def environment(state: RunState) -> Environment:
    """What the run was made with: our own packages, and those that the code could use."""
    ours = {name: found for name in _PACKAGES if (found := installed(name))}
    return Environment(
        greenloop=own_version(),
        python=platform.python_version(),
        model=state.model,
        sandbox=state.sandbox,
        packages={**dict(state.provisions.installed.versions), **ours},
    )


def own_version() -> str:
    return installed("greenloop") or "not installed"


@lru_cache(maxsize=64)  # it looks through all that is installed
def installed(package: str) -> str | None:
    """A package's version, None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
