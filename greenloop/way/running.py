"""Running the suite on a candidate, free fixes first."""

from __future__ import annotations

import time

from greenloop.events import Attempted, Emit, FreeFixed
from greenloop.fixes import free_fixes
from greenloop.models.source_checks import public_names
from greenloop.records import Expectation, TestRun
from greenloop.suite import Suite
from greenloop.tools.toolkit import Toolkit
from greenloop.way.history import Candidate
from greenloop.way.packages import explained, fitted, provide_imported, provide_missed
from greenloop.way.state import RunState


async def run_suite(
    kit: Toolkit,
    state: RunState,
    emit: Emit,
    code: str,
    suite: Suite,
    expected: Expectation | None,
) -> TestRun:
    """One run, its seconds entered; with the packages that code and tests are found to need."""
    await provide_imported(kit, state, emit, [code, *(item.code for item in suite.files)], suite)
    run = await _run(kit, state, code, suite, expected)
    while await provide_missed(kit, state, emit, run, suite):
        run = await _run(kit, state, code, suite, expected)
    return explained(state, emit, run, suite)


async def _run(
    kit: Toolkit, state: RunState, code: str, suite: Suite, expected: Expectation | None
) -> TestRun:
    started = time.monotonic()
    try:
        return await fitted(kit, state).run_tests(code, suite.files, suite.module, expected)
    finally:
        state.sandbox_s += time.monotonic() - started


async def try_out(kit: Toolkit, state: RunState, emit: Emit) -> TestRun:
    """Runs the candidate that is to be built on, after the fixes that cost nothing."""
    candidate = _mended_for_nothing(state, emit)
    run = await run_suite(kit, state, emit, candidate.code, state.tests, state.expected)
    state.history.enter_run(candidate, run)
    emit(Attempted(state.history.attempts[candidate.n - 1], run))
    return run


def _mended_for_nothing(state: RunState, emit: Emit) -> Candidate:
    candidate = state.history.base
    assert candidate is not None
    fixed = free_fixes(candidate.code, keep=public_names(state.agreed.interface))
    if not fixed.applied:
        return state.history.reformatted(candidate, fixed.code)
    emit(FreeFixed(fixed.applied))
    return state.history.enter(Candidate(fixed.code, "free-fix", "; ".join(fixed.applied)))
