"""A task becomes a script whose output is checked; a script that exists is healed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from greenloop.errors import UnusableAnswerError
from greenloop.events import ChecksReady, Emit, Graded, Notice
from greenloop.grading.integrity import integrity
from greenloop.llm.client import Asker
from greenloop.records import Evidence, Flakiness, OutputCheck, RedPhase, ScriptRun
from greenloop.scripts.checks.options import complete
from greenloop.scripts.evaluator import judge
from greenloop.tools.toolkit import Toolkit
from greenloop.workflow.candidates import Candidate, remark
from greenloop.workflow.heal.change_requests import Wishes
from greenloop.workflow.repair_code import Improver, mend, ran_green, tell_of_health
from greenloop.workflow.script.checklist import PRINTED_BEFORE, Checklist
from greenloop.workflow.script.inputs import job_of
from greenloop.workflow.script.strategy import ScriptCraft
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.request import ScriptRequest

_PROVES_NOTHING = "holds for a script that does nothing: proves nothing"


async def script_way(kit: Toolkit, asker: Asker, state: RunState, emit: Emit, repairs: int) -> None:
    """The way of a script: checks, a first version, and repairs until all checks hold.

    Raises:
        InputError: an input has changed since the run began.
        GreenloopError: a call or the sandbox failed.
    """
    request = state.request.script
    assert request is not None
    original = state.request.original
    job = job_of(request)
    state.suite = Checklist(request.checks, own_file=job.name)
    craft = ScriptCraft(kit, state, emit, job, original)
    if original:
        _hold_to_its_checks(state, request, emit)
        state.history.enter(Candidate(original.text, "generate", "the script as it was"))
    else:
        await _agree_on_checks(craft, request, emit)
        await _write(craft)

    async def is_green() -> bool:
        return await ran_green(craft, state, emit) and await _holds_up(craft, emit)

    await mend(is_green, Improver(craft, asker, state, emit, repairs))
    if original:
        tell_of_health(state, emit)
        more = partial(Improver, craft, asker, state, emit)
        await Wishes(craft, more, is_green, state, emit, repairs).grant()


def _hold_to_its_checks(state: RunState, request: ScriptRequest, emit: Emit) -> None:
    """A script that exists has to end well, to do what is asked for, and to print what it did."""
    checks = complete(request.checks, prints=False)
    emit(ChecksReady(checks))
    printed = OutputCheck(id=PRINTED_BEFORE, kind="kept", origin="generated")
    state.suite = replace(_checklist(state), checks=(*checks, printed))


async def _agree_on_checks(craft: ScriptCraft, request: ScriptRequest, emit: Emit) -> None:
    """The person's checks and the model's, before anything is written."""
    state = craft.state
    agreed = request.agreed if request.agreed is not None else await _proposed(craft, emit)
    wanted = (*request.checks, *agreed)
    checks = complete(wanted, prints=not any(item.file for item in wanted))
    state.suite = replace(_checklist(state), checks=checks)
    state.red_phase = _drop_empty_ones(state, checks)
    emit(ChecksReady(_checklist(state).checks))


async def _proposed(craft: ScriptCraft, emit: Emit) -> tuple[OutputCheck, ...]:
    try:
        return await craft.tools.propose_checks(craft.task)
    except UnusableAnswerError as error:
        craft.state.notes.append(f"no checks were made of the task: {error}")
        emit(Notice(str(error)))
        return ()


def _drop_empty_ones(state: RunState, checks: Sequence[OutputCheck]) -> RedPhase:
    """The checks judged on a script that does nothing: what holds there is no proof."""
    idle = judge(ScriptRun(ending="finished", exit_status=0), checks)
    said = {item.id for item in checks if item.kind in ("status", "silent")}
    passing = [item.id for item in idle.tests if item.outcome == "passed" and item.id not in said]
    for name in passing:
        state.suite = state.standing.drop(name, _PROVES_NOTHING, disputed=False)
    red = len(checks) - len(said) - len(passing)
    return RedPhase(reached=red > 0, failed=red, passing_on_stub=tuple(passing))


async def _write(craft: ScriptCraft) -> None:
    state, started = craft.state, time.monotonic()
    before = state.ledger.tokens
    written = await craft.tools.write_script(craft.task)
    candidate = Candidate(written.code, "generate", remark(written.explanation))
    spent = state.ledger.tokens - before
    state.history.enter(candidate, time.monotonic() - started, spent)


async def _holds_up(craft: ScriptCraft, emit: Emit) -> bool:
    """A second run, which has to hold too; what differs between the two is told."""
    state, base = craft.state, craft.state.history.base
    assert base is not None
    first = state.script_runs.of(base.code)
    started = time.monotonic()
    again = await craft.once(base.code)
    state.grading_s += time.monotonic() - started
    differing = _differing(first, again) if first else ()
    if not judge(again, craft.checklist.checks).passed:
        state.notes.append("in a second run its checks did not hold: it is not steady")
    steady = Flakiness(reached=not differing, order_seed=0, hash_seed=0, differing=differing)
    state.evidence = Evidence(flakiness=steady, integrity=integrity(base.code))
    emit(Graded(state.evidence))
    return True


def _differing(one: ScriptRun, other: ScriptRun) -> tuple[str, ...]:
    """What two runs showed otherwise: standard output, or files by their names."""
    printed = () if one.stdout == other.stdout else ("standard output",)
    before = {item.path: item.sha256 for item in one.made}
    after = {item.path: item.sha256 for item in other.made}
    paths = sorted(before.keys() | after.keys())
    return (*printed, *(path for path in paths if before.get(path) != after.get(path)))


def _checklist(state: RunState) -> Checklist:
    assert isinstance(state.suite, Checklist)
    return state.suite
