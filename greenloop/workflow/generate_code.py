"""The code's side of the beginning: generated, reviewed, its errors repaired, before any test run."""

from __future__ import annotations

import time

from greenloop.errors import InvalidResponseError
from greenloop.events import CodeReviewed, EventSink, Notice
from greenloop.records import Finding, Review
from greenloop.tools.toolkit import RepairRequest, Toolkit
from greenloop.workflow.candidates import Candidate, summarize_explanation
from greenloop.workflow.state import RunState


async def generate_and_review_code(
    kit: Toolkit, state: RunState, emit: EventSink, *, can_repair: bool
) -> None:
    """The first candidate, reviewed. Raises GreenloopError."""
    started = time.monotonic()
    generated = await kit.generate_code(state.agreed_contract)
    candidate = Candidate(generated.code, "generate", summarize_explanation(generated.explanation))
    tokens = _count_tokens(state, "generate_code")
    state.candidates.add(candidate, time.monotonic() - started, tokens)
    state.review = await _review(kit, state, emit, generated.code)
    emit(CodeReviewed(state.review))
    if state.review.errors and can_repair:
        await _repair_findings(kit, state, generated.code)


async def _review(kit: Toolkit, state: RunState, emit: EventSink, code: str) -> Review:
    """The review; without one the run goes on: the tests decide, the review only saves time."""
    try:
        return await kit.review_code(state.agreed_contract, code)
    except InvalidResponseError as error:
        state.notes.append(f"no review: {error}")
        emit(Notice(str(error)))
        return Review()


async def _repair_findings(kit: Toolkit, state: RunState, code: str) -> None:
    started, before = time.monotonic(), _count_tokens(state, "repair_code")
    request = RepairRequest(code=code, findings=state.review.errors)
    repair = await kit.repair_code(state.agreed_contract, request)
    if repair.code is None or repair.code == code:
        return
    candidate = Candidate(repair.code, "review-repair", summarize_explanation(repair.explanation))
    tokens = _count_tokens(state, "repair_code") - before
    state.candidates.add(candidate, time.monotonic() - started, tokens)
    state.review = Review(findings=tuple(_mark_resolved(item) for item in state.review.findings))


def _mark_resolved(finding: Finding) -> Finding:
    return finding.model_copy(update={"resolved": finding.severity == "error"})


def _count_tokens(state: RunState, tool: str) -> int:
    used = state.budget.by_tool.get(tool)
    return used.input_tokens + used.output_tokens if used else 0
