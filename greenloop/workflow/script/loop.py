"""A task becomes a script whose output is checked; a script that exists is healed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from greenloop.errors import InvalidResponseError
from greenloop.events import ChecksReady, CodeGraded, EventSink, Notice
from greenloop.grading.integrity import find_integrity_issues
from greenloop.llm.client import LLMClient
from greenloop.records import Evidence, Flakiness, OutputCheck, RedPhase, ScriptRun
from greenloop.scripts.checks.options import complete_checks
from greenloop.scripts.evaluator import evaluate_checks
from greenloop.tools.toolkit import Toolkit
from greenloop.workflow.candidates import Candidate, summarize_explanation
from greenloop.workflow.heal.change_requests import ChangeRequests
from greenloop.workflow.repair_code import (
    RepairStep,
    notify_already_healthy,
    repair_until_green,
    run_and_update_green,
)
from greenloop.workflow.script.checklist import PREVIOUS_OUTPUT_CHECK, Checklist
from greenloop.workflow.script.inputs import build_job
from greenloop.workflow.script.strategy import ScriptStrategy
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.request import ScriptRequest

_VACUOUS_REASON = "holds for a script that does nothing: proves nothing"


async def run_script_workflow(
    kit: Toolkit, client: LLMClient, state: RunState, emit: EventSink, max_repairs: int
) -> None:
    """The way of a script: checks, a first version, and repairs until all checks hold.

    Raises:
        InputError: an input has changed since the run began.
        GreenloopError: a call or the sandbox failed.
    """
    request = state.request.script
    assert request is not None
    original = state.request.original
    job = build_job(request)
    state.suite = Checklist(request.checks, own_file=job.name)
    craft = ScriptStrategy(kit, state, emit, job, original)
    if original:
        _set_heal_checks(state, request, emit)
        state.candidates.add(Candidate(original.text, "generate", "the script as it was"))
    else:
        await _agree_on_checks(craft, request, emit)
        await _write_script(craft)

    async def is_green() -> bool:
        return await run_and_update_green(craft, state, emit) and await _grade_second_run(
            craft, emit
        )

    await repair_until_green(is_green, RepairStep(craft, client, state, emit, max_repairs))
    if original:
        notify_already_healthy(state, emit)
        more = partial(RepairStep, craft, client, state, emit)
        await ChangeRequests(craft, more, is_green, state, emit, max_repairs).apply()


def _set_heal_checks(state: RunState, request: ScriptRequest, emit: EventSink) -> None:
    """A script that exists has to end well, to do what is asked for, and to print what it did."""
    checks = complete_checks(request.checks, requires_output=False)
    emit(ChecksReady(checks))
    printed = OutputCheck(id=PREVIOUS_OUTPUT_CHECK, kind="kept", origin="generated")
    state.suite = replace(_require_checklist(state), checks=(*checks, printed))


async def _agree_on_checks(
    strategy: ScriptStrategy, request: ScriptRequest, emit: EventSink
) -> None:
    """The person's checks and the model's, before anything is written."""
    state = strategy.state
    agreed = request.agreed if request.agreed is not None else await _propose_checks(strategy, emit)
    wanted = (*request.checks, *agreed)
    checks = complete_checks(wanted, requires_output=not any(item.file for item in wanted))
    state.suite = replace(_require_checklist(state), checks=checks)
    state.red_phase = _drop_vacuous_checks(state, checks)
    emit(ChecksReady(_require_checklist(state).checks))


async def _propose_checks(strategy: ScriptStrategy, emit: EventSink) -> tuple[OutputCheck, ...]:
    try:
        return await strategy.tools.propose_checks(strategy.task)
    except InvalidResponseError as error:
        strategy.state.notes.append(f"no checks were made of the task: {error}")
        emit(Notice(str(error)))
        return ()


def _drop_vacuous_checks(state: RunState, checks: Sequence[OutputCheck]) -> RedPhase:
    """The checks judged on a script that does nothing: what holds there is no proof."""
    idle = evaluate_checks(ScriptRun(ending="finished", exit_status=0), checks)
    said = {item.id for item in checks if item.kind in ("status", "silent")}
    passing = [item.id for item in idle.tests if item.outcome == "passed" and item.id not in said]
    for name in passing:
        state.suite = state.active_tests.drop(name, _VACUOUS_REASON, disputed=False)
    red = len(checks) - len(said) - len(passing)
    return RedPhase(reached=red > 0, failed=red, passing_on_stub=tuple(passing))


async def _write_script(strategy: ScriptStrategy) -> None:
    state, started = strategy.state, time.monotonic()
    before = state.budget.tokens
    written = await strategy.tools.write_script(strategy.task)
    candidate = Candidate(written.code, "generate", summarize_explanation(written.explanation))
    spent = state.budget.tokens - before
    state.candidates.add(candidate, time.monotonic() - started, spent)


async def _grade_second_run(strategy: ScriptStrategy, emit: EventSink) -> bool:
    """A second run, which has to hold too; what differs between the two is told."""
    state, base = strategy.state, strategy.state.candidates.base
    assert base is not None
    first = state.script_runs.get(base.code)
    started = time.monotonic()
    again = await strategy.run_script(base.code)
    state.grading_s += time.monotonic() - started
    differing = _find_differences(first, again) if first else ()
    if not evaluate_checks(again, strategy.checklist.checks).passed:
        state.notes.append("in a second run its checks did not hold: it is not steady")
    steady = Flakiness(reached=not differing, order_seed=0, hash_seed=0, differing=differing)
    state.evidence = Evidence(flakiness=steady, integrity=find_integrity_issues(base.code))
    emit(CodeGraded(state.evidence))
    return True


def _find_differences(one: ScriptRun, other: ScriptRun) -> tuple[str, ...]:
    """What two runs showed otherwise: standard output, or files by their names."""
    printed = () if one.stdout == other.stdout else ("standard output",)
    before = {item.path: item.sha256 for item in one.made}
    after = {item.path: item.sha256 for item in other.made}
    paths = sorted(before.keys() | after.keys())
    return (*printed, *(path for path in paths if before.get(path) != after.get(path)))


def _require_checklist(state: RunState) -> Checklist:
    assert isinstance(state.suite, Checklist)
    return state.suite
