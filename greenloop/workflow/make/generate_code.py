"""Generation of the first candidate: code, review, and repair of the errors that it found."""

from __future__ import annotations

from greenloop.errors import InvalidResponseError
from greenloop.events import CodeReviewed
from greenloop.records import Review
from greenloop.specification.quotes import refuse_background
from greenloop.tools.toolkit import RepairRequest
from greenloop.workflow.state import Run


async def generate_and_review_code(run: Run) -> None:
    """Add the first candidate, reviewed, to the run. Raises GreenloopError."""
    state, meter = run.state, run.measure_calls("generate_code")
    generated = await run.kit.generate_code(state.agreed_contract)
    run.add_candidate("generate", generated.code, generated.explanation, meter)
    state.review = await _review(run, generated.code)
    run.emit(CodeReviewed(state.review))
    if state.review.errors and run.settings.max_repairs > 0:
        await _repair_findings(run, generated.code)


async def _review(run: Run, code: str) -> Review:
    """Return the review; an unusable one is skipped, because the tests decide.

    Background that it refuses is no longer background.
    """
    contract = run.state.agreed_contract
    try:
        review = await run.kit.review_code(contract, code)
    except InvalidResponseError as error:
        run.note(f"no review: {error}")
        run.notify(str(error))
        return Review()
    run.state.contract = refuse_background(contract, review)
    return review


async def _repair_findings(run: Run, code: str) -> None:
    state, meter = run.state, run.measure_calls("repair_code")
    request = RepairRequest(code=code, findings=state.review.errors)
    repair = await run.kit.repair_code(state.agreed_contract, request)
    if repair.code is None or repair.code == code:
        return
    run.add_candidate("review-repair", repair.code, repair.explanation, meter)
    findings = (
        item.model_copy(update={"resolved": item.severity == "error"})
        for item in state.review.findings
    )
    state.review = Review(findings=tuple(findings))
