"""What a person changed after a run: its contract, or a wish in words. The run goes on with it."""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.records import Contract, OutputCheck, Requirement
from greenloop.workflow.storage.request import RunRequest

_PRECEDENCE_CLAUSE = "Where another requirement contradicts this one, this one holds."


def with_contract(request: RunRequest, contract: Contract) -> RunRequest:
    """The request of a run that goes on with this contract."""
    return request.model_copy(update={"contract": contract})


def with_checks(request: RunRequest, checks: Sequence[OutputCheck]) -> RunRequest:
    """The request of a script that is held to these checks in place of the model's."""
    assert request.script is not None
    script = request.script.model_copy(update={"agreed": tuple(checks)})
    return request.model_copy(update={"script": script})


def with_change_request(request: RunRequest, change: str, contract: Contract | None) -> RunRequest:
    """The request with a wish more: of a contract, its last requirement; of a script, part of what
    it is asked for; of a file that is healed, a change on top."""
    wishes = (*request.amendments, change)
    if contract is not None:
        number = max(int(item.id[1:]) for item in contract.requirements) + 1
        wish = Requirement(id=f"R{number}", text=f"{change} {_PRECEDENCE_CLAUSE}")
        contract = contract.model_copy(update={"requirements": (*contract.requirements, wish)})
    return request.model_copy(update={"amendments": wishes, "contract": contract})


def effective_contract(parsed: Contract, request: RunRequest) -> Contract:
    """The contract of a run: the model's, unless a person put another in its place."""
    if request.contract is None:
        return parsed
    kept = {"specification": request.task, "examples": parsed.examples}
    return request.contract.model_copy(update=kept)
