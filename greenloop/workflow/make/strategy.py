"""Strategy of a module that is written from a contract."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

from greenloop.autofix import FixResult, apply_free_fixes
from greenloop.llm.parsing.completeness import public_names
from greenloop.records import TestRun
from greenloop.records.generation import Dispute, GeneratedCode, Judgement, Repair
from greenloop.specification.contract_review import apply_review, settle_background
from greenloop.tools.toolkit import RepairRequest
from greenloop.workflow.choices import ChoiceSettlement, leave_out_illustrations
from greenloop.workflow.grade_code import collect_evidence, reveal_examples
from greenloop.workflow.make.agree_contract import agree_on_contract
from greenloop.workflow.make.generate_tests import generate_and_gate_tests
from greenloop.workflow.make.harden_tests import Hardener
from greenloop.workflow.make.plain_road import prefers_plain_road
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.make.review_code import (
    repair_errors,
    review_first_code,
    review_repaired_code,
    settle_findings,
    undo_repair,
)
from greenloop.workflow.make.samples import Sampler
from greenloop.workflow.make.steer import Steering
from greenloop.workflow.peer.compare_peer import PeerComparer
from greenloop.workflow.run_tests import run_suite
from greenloop.workflow.setup.packages import install_contract_packages
from greenloop.workflow.state import Run
from greenloop.workflow.strategy import Strategy


class ModuleStrategy(Strategy):
    """A module that has to pass a suite of tests."""

    async def run_candidate(self, code: str) -> TestRun:
        return await run_suite(self.run, code, self.state.tests, self.state.expected)

    async def grade(self, result: TestRun) -> bool:
        await collect_evidence(self.state, self.run.sandbox, result, self.run.emit)
        return reveal_examples(self.run)


class MakeStrategy(ModuleStrategy):
    """Module whose code and tests are written in parallel from a contract, then hardened."""

    def __init__(self, run: Run, request: MakeRequest) -> None:
        super().__init__(run)
        self._request, self._hardener, self._sampler = request, Hardener(run), Sampler(self)
        self._peer_comparer = PeerComparer(run, repair_findings=repair_errors)
        self._steering = Steering(run, request)
        self._choices = ChoiceSettlement(run, self._steering)

    async def run_candidate(self, code: str) -> TestRun:
        result = await super().run_candidate(code)
        is_changed = leave_out_illustrations(self.run, result)
        return await super().run_candidate(code) if is_changed else result

    async def prepare(self) -> None:
        run = self.run
        await agree_on_contract(run, self._request)
        await self._choices.settle_before_code()
        await install_contract_packages(run)
        run.kit = replace(run.kit, installed=self.state.packages.installed)
        if run.state.road == "plain":  # one request at a time: a small server has one slot
            await self._write_code()
            await generate_and_gate_tests(run)
        else:
            await run_concurrently(self._write_code(), generate_and_gate_tests(run))
        await self._follow_review()  # last: a resume has to repeat the same prompts

    async def _follow_review(self) -> None:
        """Apply the contract's review; background that it rejects changes contract and tests."""
        state = self.state
        if state.contract_review:
            reviewed = apply_review(state.agreed_contract, state.contract_review)
            state.contract, lost = settle_background(reviewed, state.contract_review)
            if lost:
                await self._steering.take_up(lost)

    async def _write_code(self) -> None:
        """Add the first candidate, reviewed."""
        run = self.run
        if not self.state.candidates.attempts:  # the plain road may have written code already
            meter = run.measure_calls("generate_code")
            generated = await run.kit.generate_code(self.state.agreed_contract)
            run.add_candidate("generate", generated.code, generated.explanation, meter)
        if run.state.road == "contract":
            await review_first_code(run)

    async def search_repair(self) -> bool:
        return await self._sampler.advance()

    def apply_autofix(self, code: str) -> FixResult:
        kept_names = public_names(self.state.agreed_contract.interface)
        return apply_free_fixes(code, kept_names)

    async def extend(self) -> bool:
        settle_findings(self.state)
        if self.run.state.road == "plain" and prefers_plain_road(self.run):
            return False  # such a model can write neither more tests nor a second program
        if self.run.state.road == "contract" and (
            await self._hardener.harden() or await self._review()
        ):
            return True
        if await self._peer_comparer.compare():
            return True
        return await self._choices.settle_after_code(ask=not self.state.forgery_reason)

    async def _review(self) -> bool:
        """Review repaired code, unless answers outdate the peer: a new one is written then."""
        return not self._peer_comparer.is_outdated and await review_repaired_code(self.run)

    async def undo_change(self) -> bool:
        """Go back to green code, or apply later answers of the user: red code may be right by them."""
        return undo_repair(self.state) or await self._choices.settle_after_code(ask=False)

    async def request_repair(
        self, request: RepairRequest, *, from_the_original: bool = False
    ) -> Repair:
        return await self.run.kit.repair_code(self.state.agreed_contract, request)

    async def rewrite(self, failed_approaches: Sequence[str]) -> GeneratedCode:
        return await self.run.kit.generate_code(self.state.agreed_contract, failed_approaches)

    async def judge(self, dispute: Dispute) -> Judgement:
        tests = self.state.tests
        return await self.run.kit.judge_test(
            self.state.agreed_contract,
            tests.source_in_context(dispute.test),
            dispute,
            is_example=tests.origin(dispute.test) == "example",
        )


async def run_concurrently(*coroutines: Coroutine[Any, Any, None]) -> None:
    """Await all coroutines to their ends, then raise the first error.

    None is cancelled, because an answer that has begun is paid for.
    """
    results = await asyncio.gather(*coroutines, return_exceptions=True)
    for item in results:
        if isinstance(item, BaseException):
            raise item
