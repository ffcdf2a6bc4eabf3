"""Reviews of the first code before its run, and of repaired code once it is green."""

import difflib
from collections.abc import Awaitable, Callable

from greenloop.errors import BudgetExhaustedError, InvalidResponseError, ModelFailure
from greenloop.events import CodeReviewed
from greenloop.records import AttemptKind, Contract, Finding, Review
from greenloop.specification.contract_review import (
    find_doubtful_background,
    settle_background,
    split_review,
)
from greenloop.tools.toolkit import RepairRequest
from greenloop.workflow.state import Run, RunState

_CONTEXT_LINES = 10
_NOT_REVIEWED = "the repaired code was not reviewed"


async def review_first_code(run: Run) -> None:
    """Review the first candidate; repair the errors found.

    Findings about the contract are stored separately.
    Raises GreenloopError: a call failed.
    """
    state = run.state
    code = state.candidates.current.code
    review = await _ask(run, run.kit.review_code(state.agreed_contract, code))
    state.contract_review, review = split_review(state.agreed_contract, review)
    _record_review(run, review)
    if review.errors and run.settings.max_repairs > 0:
        await _try_repair(run, "review-repair")


def settle_findings(state: RunState) -> None:
    """Resolve the errors that the green code was repaired for."""
    before, state.before_repair = state.before_repair, None
    if before is not None and state.candidates.current.code != before.code:
        findings = (
            _resolve(item) if item.severity == "error" else item for item in state.review.findings
        )
        state.review = Review(findings=tuple(findings))


def undo_repair(state: RunState) -> bool:
    """Go back to green code whose repair stayed red; return whether there is some.

    The errors stand. The code runs again, because tests may have changed since.
    """
    before, state.before_repair = state.before_repair, None
    if before is None or before.run is None:
        return False
    state.candidates.base, state.green_run = before, None
    return True


async def confirm_background(run: Run, review: Callable[[Contract], Awaitable[Review]]) -> None:
    """Request a review of doubtful background, if there is any, and settle it.

    Raises GreenloopError: the call failed.
    """
    state, contract = run.state, run.state.agreed_contract
    if find_doubtful_background(contract):
        state.review = await _ask(run, review(contract))
        state.contract, _ = settle_background(contract, state.review)


async def _ask(run: Run, call: Awaitable[Review]) -> Review:
    """Return a review, empty if its answer cannot be used: the tests decide then.

    Raises GreenloopError: the call failed.
    """
    try:
        return await call
    except InvalidResponseError as error:
        run.note(f"no review: {error}")
        run.notify(str(error))
        return Review()


async def review_repaired_code(run: Run) -> bool:
    """Review the changes since the last review; return whether errors led to a repair.

    A review that fails leaves the run green, with a reason in the report.
    """
    state = run.state
    if state.green_run is None or state.forgery_reason or not _is_changed_since_review(state):
        return False
    code, old = state.candidates.current.code, state.candidates.attempts[state.reviewed - 1].code
    sides = old.split("\n"), code.split("\n"), "reviewed", "repaired"
    diff = "\n".join(difflib.unified_diff(*sides, n=_CONTEXT_LINES, lineterm=""))
    try:
        review = await run.kit.review_code(
            state.agreed_contract, code, diff, state.review.of_correctness
        )
    except (ModelFailure, BudgetExhaustedError) as error:
        state.review_gap = f"{_NOT_REVIEWED}: {error}: run it again"
        run.notify(state.review_gap)
        return False
    state.review_gap = ""
    _record_review(run, review)
    return await repair_errors(run) if review.errors else False


async def repair_errors(run: Run) -> bool:
    """Request a repair of the review's open errors; return whether the code was changed."""
    state = run.state
    if state.repairs >= state.repair_phase.limit:
        return False
    state.repairs += 1
    return await _try_repair(run, "repair")


def _record_review(run: Run, review: Review) -> None:
    """Add the findings; those of former reviews are resolved unless the new one repeats them."""
    state = run.state
    state.reviewed = state.candidates.current.n
    earlier = (_resolve(item) for item in state.review.findings if item.severity != "style")
    repeated = {item.message for item in review.findings}
    style = (item for item in state.review.findings if item.severity == "style")
    kept = (item for item in (*earlier, *style) if item.message not in repeated)
    state.review = Review(findings=(*kept, *review.findings))
    run.emit(CodeReviewed(review))


def _resolve(finding: Finding) -> Finding:
    return finding.model_copy(update={"resolved": True})


def _is_changed_since_review(state: RunState) -> bool:
    """Whether a model changed the code since the last review; automatic fixes do not count."""
    attempts, current = state.candidates.attempts, state.candidates.current
    n = current.n
    while n != state.reviewed and attempts[n - 1].kind == "free-fix":
        n = attempts[n - 1].based_on or state.reviewed
    return n != state.reviewed and current.code != attempts[state.reviewed - 1].code


async def _try_repair(run: Run, kind: AttemptKind) -> bool:
    """Request a repair of errors and warnings; return whether the code was changed.

    If the call fails, code and findings stay.
    """
    state, meter = run.state, run.measure_calls("repair_code")
    code = state.candidates.current.code
    request = RepairRequest(code=code, findings=state.review.of_correctness)
    try:
        repair = await run.kit.repair_code(state.agreed_contract, request)
    except (ModelFailure, BudgetExhaustedError) as error:
        run.notify(f"findings of the review were not repaired: {error}")
        return False
    if repair.code is None or repair.code == code:
        return False
    state.before_repair = state.candidates.current
    run.add_candidate(kind, repair.code, repair.explanation, meter)
    return True
