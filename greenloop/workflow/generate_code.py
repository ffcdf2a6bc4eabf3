"""The code's side of the beginning: generated, reviewed, its errors repaired, before any test run."""

from __future__ import annotations

import time

from greenloop.errors import UnusableAnswerError
from greenloop.events import Emit, Notice, Reviewed
from greenloop.records import Finding, Review
from greenloop.tools.toolkit import RepairRequest, Toolkit
from greenloop.workflow.candidates import Candidate, remark
from greenloop.workflow.state import RunState


async def write_code(kit: Toolkit, state: RunState, emit: Emit, *, may_repair: bool) -> None:
    """The first candidate, reviewed. Raises GreenloopError."""
    started = time.monotonic()
    generated = await kit.generate_code(state.agreed)
    candidate = Candidate(generated.code, "generate", remark(generated.explanation))
    tokens = _tokens(state, "generate_code")
    state.history.enter(candidate, time.monotonic() - started, tokens)
    state.review = await _reviewed(kit, state, emit, generated.code)
    emit(Reviewed(state.review))
    if state.review.errors and may_repair:
        await _repair_findings(kit, state, generated.code)


async def _reviewed(kit: Toolkit, state: RunState, emit: Emit, code: str) -> Review:
    """The review; without one the run goes on: the tests decide, the review only saves time."""
    try:
        return await kit.review_code(state.agreed, code)
    except UnusableAnswerError as error:
        state.notes.append(f"no review: {error}")
        emit(Notice(str(error)))
        return Review()


async def _repair_findings(kit: Toolkit, state: RunState, code: str) -> None:
    started, before = time.monotonic(), _tokens(state, "repair_code")
    request = RepairRequest(code=code, findings=state.review.errors)
    repair = await kit.repair_code(state.agreed, request)
    if repair.code is None or repair.code == code:
        return
    candidate = Candidate(repair.code, "review-repair", remark(repair.explanation))
    tokens = _tokens(state, "repair_code") - before
    state.history.enter(candidate, time.monotonic() - started, tokens)
    state.review = Review(findings=tuple(_resolved(item) for item in state.review.findings))


def _resolved(finding: Finding) -> Finding:
    return finding.model_copy(update={"resolved": finding.severity == "error"})


def _tokens(state: RunState, tool: str) -> int:
    used = state.ledger.by_tool.get(tool)
    return used.input_tokens + used.output_tokens if used else 0
