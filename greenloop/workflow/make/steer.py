"""Changes of contract and tests by answers that differ from what was taken."""

from collections.abc import Sequence

from greenloop.errors import (
    BudgetExhaustedError,
    ModelFailure,
    SpecificationError,
    UnusableCodeError,
)
from greenloop.events import ContractReady
from greenloop.records import Choice, Contract
from greenloop.specification.quotes import settle_contract
from greenloop.specification.tracing import trace_contract
from greenloop.workflow.make.agree_contract import request_contract
from greenloop.workflow.make.generate_tests import generate_and_gate_tests
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.state import Run

_FAILURES = (ModelFailure, BudgetExhaustedError, SpecificationError, UnusableCodeError)


class Steering:
    """Changes of the contract by complaints, and new tests for it if there were tests."""

    def __init__(self, run: Run, request: MakeRequest) -> None:
        self._run, self._request = run, request

    async def __call__(self, taken: Sequence[Choice]) -> bool:
        """Apply answers that differ from the `taken` choices; return whether tests changed.

        If a call fails, the answers still are requirements and tests of their own.
        """
        answered = {i.sha256: i.chosen for i in self._run.state.agreed_contract.choices}
        complaints = [
            f'The author answers your question "{item.question}": `{answered[item.sha256]}`, and not '
            f"`{item.chosen}`. Change what follows from that in requirements, interface, examples and other choices"
            for item in taken
        ]
        return self._run.state.road == "contract" and await self.take_up(complaints, is_answer=True)

    async def take_up(self, complaints: Sequence[str], *, is_answer: bool = False) -> bool:
        """Request a changed contract, then new tests for it; return whether these were written.

        An answer (`is_answer`) needs new tests even if the contract has its requirement already. If
        a call fails, contract and tests stay as they are.
        """
        run, state = self._run, self._run.state
        run.notify(f"the contract was sent back: {complaints[0]}")
        before = state.agreed_contract
        try:
            await self._change_contract(complaints)
            now = state.agreed_contract
            is_same = (now.requirements, now.interface) == (before.requirements, before.interface)
            if state.suite is None or (is_same and not is_answer):
                return False
            run.notify("the tests are written again from the changed contract")
            await generate_and_gate_tests(run)
        except _FAILURES as error:
            run.notify(f"the contract and its tests could not be changed: {error}")
            state.contract = before
            return False
        return True

    async def _change_contract(self, complaints: Sequence[str]) -> None:
        run, before = self._run, self._run.state.agreed_contract
        changed = await request_contract(run, self._request, complaints, before)
        choices = tuple(_take_over(item, changed) for item in before.choices)
        kept = {"choices": choices, "background": before.background}
        run.state.contract = settle_contract(trace_contract(changed.model_copy(update=kept)))
        run.emit(ContractReady(run.state.contract))


def _take_over(choice: Choice, changed: Contract) -> Choice:
    """Return an open choice with the answers of a changed contract: their calls may be others."""
    now = {item.sha256: item for item in changed.choices}.get(choice.sha256)
    if now is None or choice.answered:
        return choice
    return choice.model_copy(update={"answers": now.answers, "chosen": now.chosen})
