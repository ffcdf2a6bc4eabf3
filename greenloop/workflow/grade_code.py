"""Test run and grade of the current candidate; a failed held-out example becomes a test."""

from functools import partial
from typing import TYPE_CHECKING, Any

from greenloop.events import AutofixApplied, CandidateTested, CodeGraded, EventSink
from greenloop.events.progress import create_thread_safe_sink
from greenloop.grading import GradingContext
from greenloop.grading.grader import grade_run
from greenloop.records import TestRun
from greenloop.sandbox import Sandbox
from greenloop.testsuite.quality_gates import find_untested_requirements
from greenloop.threads import complete_in_thread
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.state import Run, RunState

if TYPE_CHECKING:
    from greenloop.workflow.strategy import Strategy


async def run_and_grade(strategy: "Strategy") -> bool:
    """Run the current candidate and grade it if it is green; return whether it stays green."""
    state = strategy.run.state
    result = await run_current_candidate(strategy)
    if not result.passed and state.candidates.select_best_for_rerun():
        result = await run_current_candidate(strategy)
    if not result.passed:
        return False
    state.green_run = result
    if not await strategy.grade(result):
        return state.green_run is not None
    result = await run_current_candidate(strategy)
    if result.passed:
        # The same calls returned other values while no test was running.
        state.forgery_reason = (
            "held-out examples fail without the tests and pass as tests: "
            "the code detects that it is tested"
        )
        return True
    state.green_run = None
    return False


async def run_current_candidate(strategy: "Strategy") -> TestRun:
    """Apply automatic fixes to the current candidate, run it, and record the result."""
    candidate = await _autofix_current_candidate(strategy)
    result = await strategy.run_candidate(candidate.code)
    candidates = strategy.run.state.candidates
    candidates.record_run(candidate, result)
    strategy.run.emit(CandidateTested(candidates.attempts[candidate.n - 1], result))
    return result


async def _autofix_current_candidate(strategy: "Strategy") -> Candidate:
    candidates = strategy.run.state.candidates
    fixed = await complete_in_thread(partial(strategy.apply_autofix, candidates.current.code))
    if not fixed.applied:
        return candidates.replace_source(candidates.current, fixed.code)
    strategy.run.emit(AutofixApplied(fixed.applied))
    return candidates.add(Candidate(fixed.code, "free-fix", "; ".join(fixed.applied)))


async def collect_evidence(
    state: RunState, sandbox: Sandbox, result: TestRun, emit: EventSink
) -> None:
    """Set the evidence of a green module.

    Raises SandboxError: the sandbox cannot run anything.
    """
    suite, contract = state.tests, state.contract
    context = GradingContext(
        *(sandbox, state.candidates.current.code, suite.files, suite.module, result, state.plan),
        expected=state.expected,
        held_out=suite.held_out,
        interface=contract.interface if contract else "",
        contract=f"{contract}\n{contract.specification}" if contract else "",
    )
    with state.measure_time("grading_s"):
        work = partial(grade_run, context, create_thread_safe_sink(emit))
        evidence = await complete_in_thread(work, sandbox.interrupt_runs)
    known: dict[str, Any] = {
        "red_phase": state.red_phase,
        "read_against_text": contract is not None,
    }
    if contract and state.request.kind != "check" and state.road == "contract":
        known["requirements_untested"] = find_untested_requirements(contract, suite)
    state.evidence = evidence.model_copy(update=known)
    emit(CodeGraded(state.evidence))


def reveal_examples(run: Run) -> bool:
    """Turn the held-out examples that the code fails into tests; return whether there are any."""
    state = run.state
    found, before = state.evidence.held_out, state.code_tests
    failed = [item for item in before.held_out if found and item.call in found.disagreed]
    for example in failed:
        run.notify(f"a held-out example fails and becomes a test: {example.call}")
        state.suite = state.code_tests.reveal(example)
    suite = state.code_tests
    state.update_expectation(f"{suite.file_name}::{name}" for name in suite.names - before.names)
    return bool(failed)
