"""After a green run: what it is worth. Held-out examples that fail are revealed, and it is red again."""

from __future__ import annotations

import time
from functools import partial

from greenloop.events import CodeGraded, EventSink, Notice
from greenloop.events.progress import create_thread_safe_sink
from greenloop.grading.grader import grade_run
from greenloop.records import Expectation, TestRun
from greenloop.sandbox.asyncio_bridge import run_in_sandbox_thread
from greenloop.testsuite.quality_gates import find_untested_requirements
from greenloop.tools.toolkit import Toolkit
from greenloop.workflow.setup.packages import with_installed_packages
from greenloop.workflow.state import RunState
from greenloop.workflow.strategy import CandidateStrategy, run_current_candidate


async def run_and_grade(
    kit: Toolkit, strategy: CandidateStrategy, state: RunState, emit: EventSink
) -> bool:
    """Runs the candidate; where it is green, grades it; where a held-out example fails, it is not."""
    run = await run_current_candidate(strategy, state, emit)
    if not run.passed and state.candidates.select_best_for_rerun():
        run = await run_current_candidate(strategy, state, emit)
    while run.passed:
        state.green_run = run
        if not await _grade(kit, state, emit, run):
            return True
        run = await run_current_candidate(strategy, state, emit)
        if run.passed:
            # The same calls gave other values where the tests were not in reach.
            state.forgery_reason = (
                "held-out examples fail outside of the tests' process and pass inside"
            )
            return True
        state.green_run = None
    return False


async def _grade(kit: Toolkit, state: RunState, emit: EventSink, run: TestRun) -> bool:
    """Takes the evidence; True where it revealed a held-out example that the code fails."""
    candidate, suite = state.candidates.base, state.tests
    assert candidate is not None
    box = with_installed_packages(kit, state).sandbox
    work = partial(
        grade_run,
        box,
        candidate.code,
        suite.files,
        suite.module,
        run=run,
        expected=state.expected,
        held_out=suite.held_out,
        red_phase=state.red_phase,
        untested_requirements=(
            find_untested_requirements(state.contract, suite) if state.contract else ()
        ),
        plan=state.plan,
        emit=create_thread_safe_sink(emit),
    )
    started = time.monotonic()
    try:
        graded = await run_in_sandbox_thread(box, work)
    finally:
        state.grading_s += time.monotonic() - started
    state.evidence = graded.evidence
    emit(CodeGraded(graded.evidence))
    for example in graded.disagreements:
        emit(Notice(f"a held-out example fails and is revealed: {example.call}"))
        state.suite = state.tests.reveal(example)
    if graded.disagreements:
        _expect_revealed(state)
    return bool(graded.disagreements)


def _expect_revealed(state: RunState) -> None:
    if state.expected is None:
        return
    suite = state.tests
    named = (item.name for file, item in suite.functions if file.name == suite.file_name)
    revealed = {f"{suite.file_name}::{name}" for name in named if suite.origin(name) == "held_out"}
    ids = state.expected.ids | revealed
    state.expected = Expectation(ids=ids, tolerated=state.expected.tolerated)
