"""After a green run: what it is worth. Sealed examples that fail are revealed, and it is red again."""

from __future__ import annotations

import time
from functools import partial

from greenloop.events import Emit, Graded, Notice
from greenloop.events.progress import from_threads
from greenloop.grading.grader import grade_run
from greenloop.records import Expectation, TestRun
from greenloop.sandbox.asyncio_bridge import in_sandbox
from greenloop.testsuite.quality_gates import untested
from greenloop.tools.toolkit import Toolkit
from greenloop.workflow.setup.packages import fitted
from greenloop.workflow.state import RunState
from greenloop.workflow.strategy import Craft, try_out


async def is_green(kit: Toolkit, craft: Craft, state: RunState, emit: Emit) -> bool:
    """Runs the candidate; where it is green, grades it; where a sealed example fails, it is not."""
    run = await try_out(craft, state, emit)
    if not run.passed and state.history.best_deserves_a_run():
        run = await try_out(craft, state, emit)
    while run.passed:
        state.green = run
        if not await _graded(kit, state, emit, run):
            return True
        run = await try_out(craft, state, emit)
        if run.passed:
            # The same calls gave other values where the tests were not in reach.
            state.forged = "sealed examples fail outside of the tests' process and pass inside"
            return True
        state.green = None
    return False


async def _graded(kit: Toolkit, state: RunState, emit: Emit, run: TestRun) -> bool:
    """Takes the evidence; True where it revealed a sealed example that the code fails."""
    candidate, suite = state.history.base, state.tests
    assert candidate is not None
    box = fitted(kit, state).sandbox
    work = partial(
        grade_run,
        box,
        candidate.code,
        suite.files,
        suite.module,
        run=run,
        expected=state.expected,
        sealed=suite.sealed,
        red_phase=state.red_phase,
        untested=untested(state.contract, suite) if state.contract else (),
        plan=state.plan,
        emit=from_threads(emit),
    )
    started = time.monotonic()
    try:
        graded = await in_sandbox(box, work)
    finally:
        state.grading_s += time.monotonic() - started
    state.evidence = graded.evidence
    emit(Graded(graded.evidence))
    for example in graded.disagreed:
        emit(Notice(f"a sealed example fails and is revealed: {example.call}"))
        state.suite = state.tests.reveal(example)
    if graded.disagreed:
        _expect_revealed(state)
    return bool(graded.disagreed)


def _expect_revealed(state: RunState) -> None:
    if state.expected is None:
        return
    suite = state.tests
    named = (item.name for file, item in suite.functions if file.name == suite.file_name)
    revealed = {f"{suite.file_name}::{name}" for name in named if suite.origin(name) == "sealed"}
    ids = state.expected.ids | revealed
    state.expected = Expectation(ids=ids, tolerated=state.expected.tolerated)
