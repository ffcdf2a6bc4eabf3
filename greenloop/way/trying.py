"""Running the candidate that is to be built on, free fixes first."""

from __future__ import annotations

from greenloop.events import Attempted, Emit, FreeFixed
from greenloop.records import TestRun
from greenloop.way.craft import Craft
from greenloop.way.history import Candidate
from greenloop.way.state import RunState


async def try_out(craft: Craft, state: RunState, emit: Emit) -> TestRun:
    """Runs the candidate that is to be built on, after the fixes that cost nothing."""
    candidate = _mended_for_nothing(craft, state, emit)
    run = await craft.run(candidate.code)
    state.history.enter_run(candidate, run)
    emit(Attempted(state.history.attempts[candidate.n - 1], run))
    return run


def _mended_for_nothing(craft: Craft, state: RunState, emit: Emit) -> Candidate:
    candidate = state.history.base
    assert candidate is not None
    fixed = craft.mended(candidate.code)
    if not fixed.applied:
        return state.history.reformatted(candidate, fixed.code)
    emit(FreeFixed(fixed.applied))
    return state.history.enter(Candidate(fixed.code, "free-fix", "; ".join(fixed.applied)))
