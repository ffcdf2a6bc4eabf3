"""Agreement on a contract: quotes are traced in the text, complaints are sent back once."""

from collections.abc import Sequence

from greenloop.errors import (
    BudgetExhaustedError,
    InvalidResponseError,
    ModelFailure,
    ReplayExhaustedError,
    SpecificationError,
)
from greenloop.events import ContractReady
from greenloop.records import Contract
from greenloop.specification.examples import analyze_specification
from greenloop.specification.quotes import find_complaints, find_contradiction, settle_contract
from greenloop.specification.tracing import Trace, trace_contract
from greenloop.workflow.make.plain_road import prefers_plain_road, take_plain_road
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.state import Run


async def agree_on_contract(run: Run, request: MakeRequest) -> None:
    """Set the run's contract; if the model gives none, that of the plain road.

    Raises:
        SpecificationError: the text contradicts itself, or asks mostly for more than one module can
            provide.
        GreenloopError: the call failed.
    """
    if request.contract is None and prefers_plain_road(run):
        await take_plain_road(
            run, request, "the model is small (GREENLOOP_PROFILE=full asks for one)"
        )
        return
    try:
        parsed = await request_contract(run, request)
    except InvalidResponseError as error:
        await take_plain_road(run, request, str(error))
        return
    if request.contract is None:
        trace = await _trace_and_correct(run, request, parsed)
        if sides := find_contradiction(trace):
            raise SpecificationError(
                f"the text contradicts itself: {sides}: correct one of the two"
            )
    else:  # the user has replaced the model's
        kept = {"specification": request.task, "examples": parsed.examples}
        trace = trace_contract(request.contract.model_copy(update=kept))
    run.state.contract = contract = settle_contract(trace)
    run.emit(ContractReady(contract))
    for passage in contract.unclear_examples:
        run.notify(f"not used as an example, because its result is not clear: {passage}")
    stated = analyze_specification(contract.specification)
    is_clear = stated.signatures or stated.examples  # then the model's refusals do not count
    if len(contract.not_covered) > len(contract.requirements) and not is_clear:
        raise SpecificationError(_explain_refusal(contract))


async def _trace_and_correct(run: Run, request: MakeRequest, contract: Contract) -> Trace:
    """Return a contract with its quotes traced; complaints are sent back once.

    If the second call fails, as in a recording without a second answer, the first one is kept.
    """
    trace = trace_contract(contract)
    complaints = find_complaints(trace)
    if not complaints:
        return trace
    try:
        corrected = await request_contract(run, request, complaints, contract)
    except ReplayExhaustedError:
        return _drop_unconfirmed(run, trace)
    except (ModelFailure, BudgetExhaustedError, SpecificationError) as error:
        run.notify(f"the contract could not be sent back, and is kept as it is: {error}")
        return _drop_unconfirmed(run, trace)
    run.notify(f"the contract was sent back: {complaints[0]}")
    named = {"contradictions": corrected.contradictions}  # the second answer decides on these
    trace.contract = trace.contract.model_copy(update=named)
    return min(trace_contract(corrected), trace, key=lambda item: sum(map(len, item.rests)))


def _drop_unconfirmed(run: Run, trace: Trace) -> Trace:
    """Return the trace without contradictions that no second call confirmed."""
    if sides := find_contradiction(trace):
        run.note(f"a contradiction was named once and not confirmed: {sides}")
    trace.contract = trace.contract.model_copy(update={"contradictions": ()})
    return trace


async def request_contract(
    run: Run,
    request: MakeRequest,
    complaints: Sequence[str] = (),
    previous: Contract | None = None,
) -> Contract:
    """Return the model's contract; with complaints, the `previous` one corrected."""
    given_tests = "\n\n".join(item.code for item in request.given)
    return await run.kit.parse_specification(
        request.specification, request.module, given_tests, complaints, previous
    )


def _explain_refusal(contract: Contract) -> str:
    asked = len(contract.not_covered) + len(contract.requirements)
    return (
        f"one module cannot provide {len(contract.not_covered)} of the {asked} things that the text "
        f"asks for, such as {contract.not_covered[0]!r}: ask for the module alone, or change a "
        "project with `greenloop change`"
    )
