"""Generation of the first candidate: code, review, and repair of the errors that it found."""

from __future__ import annotations

from greenloop.workflow.make.review_code import review_first_code
from greenloop.workflow.state import Run


async def generate_and_review_code(run: Run) -> None:
    """Add the first candidate, reviewed, to the run. Raises GreenloopError."""
    meter = run.measure_calls("generate_code")
    generated = await run.kit.generate_code(run.state.agreed_contract)
    run.add_candidate("generate", generated.code, generated.explanation, meter)
    await review_first_code(run)
