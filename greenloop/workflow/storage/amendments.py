"""Changes to a request after a first result: answers to choices, and a change in words."""

from __future__ import annotations

from greenloop.records import ChoiceAnswer, Contract, Requirement
from greenloop.specification.passages import split_passages
from greenloop.workflow.storage.request import AMENDMENT, ContractRequestT, RequestT

PRECEDENCE_CLAUSE = "Where another requirement contradicts this one, this one holds."


def with_choice_answer(request: ContractRequestT, answer: ChoiceAnswer) -> ContractRequestT:
    """Return the request with the user's answer to a choice, in place of an earlier one."""
    others = (
        item for item in request.choice_answers if item.question_sha256 != answer.question_sha256
    )
    return request.model_copy(update={"choice_answers": (*others, answer)})


def with_change_request(
    request: RequestT, change: str, contract: Contract | None = None
) -> RequestT:
    """Return the request with one more change in words.

    With a contract, the change becomes its last requirement.
    """
    update: dict[str, object] = {"amendments": (*request.amendments, change)}
    if contract is not None:
        number = max(int(item.id[1:]) for item in contract.requirements) + 1
        added = Requirement(
            id=f"R{number}",
            text=f"{change} {PRECEDENCE_CLAUSE}",
            quotes=split_passages(AMENDMENT.format(change)),
        )
        requirements = (*contract.requirements, added)
        update["contract"] = contract.model_copy(update={"requirements": requirements})
    return request.model_copy(update=update)
