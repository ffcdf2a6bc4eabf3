"""One step after a red run: repair, dispute, rewrite, the fallback model, or the end."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from greenloop.errors import InvalidResponseError
from greenloop.events import DisputeJudged, EventSink, Notice, Stuck
from greenloop.llm.client import LLMClient
from greenloop.records import AttemptKind, Dispute, DisputeEntry, Expectation, Judgement
from greenloop.workflow.candidates import Candidate, summarize_explanation
from greenloop.workflow.state import RunState
from greenloop.workflow.strategy import CandidateStrategy, run_current_candidate

_MAX_DISPUTES = 5


class RepairStep:
    """Decides what comes next. Rewriting and the fallback model are each tried once."""

    def __init__(
        self,
        strategy: CandidateStrategy,
        client: LLMClient,
        state: RunState,
        emit: EventSink,
        max_repairs: int,
    ) -> None:
        self._strategy, self._client, self._max_repairs = strategy, client, max_repairs
        self._state, self._emit = state, emit
        self._has_rewritten = False
        self._has_fallen_back = False

    async def advance(self) -> bool:
        """One repair or rewrite; False where nothing is left to try. Raises GreenloopError."""
        if self._state.repairs >= self._max_repairs:
            return False
        self._state.repairs += 1
        if not self._state.candidates.stuck_reason:
            return await self._repair()
        return await self._try_alternative()

    async def _try_alternative(self) -> bool:
        why = self._state.candidates.stuck_reason
        if not self._has_rewritten:
            self._has_rewritten = True
            self._emit(Stuck(why, "rewriting from the contract"))
        elif self._client.has_fallback and not self._has_fallen_back:
            self._use_fallback(why)
        else:
            self._emit(Stuck(why, "stopping early"))
            self._state.repairs -= 1
            self._state.notes.append(f"stuck: {why}, also after a rewrite")
            return False
        await self._rewrite()
        return True

    def _use_fallback(self, why: str) -> None:
        self._has_fallen_back = True
        self._client.use_fallback()
        self._emit(Stuck(why, f"asking the fallback model, {self._client.sources[0].name}"))

    async def _rewrite(self) -> None:
        started, before = time.monotonic(), self._state.budget.tokens
        generated = await self._strategy.rewrite(self._state.candidates.format_attempts())
        self._add_candidate("rewrite", generated.code, generated.explanation, started, before)

    async def _repair(self) -> bool:
        started, before = time.monotonic(), self._state.budget.tokens
        base = self._state.candidates.base
        assert base is not None
        assert base.run is not None
        try:
            repair = await self._strategy.repair(base, base.run)
        except InvalidResponseError as error:
            if not self._client.has_fallback or self._has_fallen_back:
                raise
            self._use_fallback(str(error))
            return True
        dropped = await self._judge_disputes(repair.disputes)
        if repair.code is not None and repair.code != base.code:
            self._add_candidate("repair", repair.code, repair.explanation, started, before)
        elif not dropped:
            self._state.candidates.stuck_reason = "the repair changed nothing"
            self._emit(Notice("the repair changed nothing"))
            if self._state.repairs < self._max_repairs:
                self._state.repairs += 1
                return await self._try_alternative()
        return True

    def _add_candidate(
        self, kind: AttemptKind, code: str, explanation: str, started: float, tokens: int
    ) -> None:
        candidate = Candidate(code, kind, summarize_explanation(explanation))
        spent = self._state.budget.tokens - tokens
        self._state.candidates.add(candidate, time.monotonic() - started, spent)

    async def _judge_disputes(self, disputes: Sequence[Dispute]) -> bool:
        """Has the disputes judged; True where a test was dropped.

        A test need not fail now: wrong code can agree with a wrong test.
        """
        state = self._state
        dropped = False
        for dispute in disputes[:_MAX_DISPUTES]:
            name = state.active_tests.name_of(dispute.test)
            if name is None or not state.active_tests.may_be_disputed(dispute.test):
                self._emit(Notice(f"dispute passed over, {dispute.test} is locked or unknown"))
                continue
            if name not in state.judged_tests:
                state.judged_tests.add(name)
                dropped |= await self._judge_dispute(Dispute(test=name, why=dispute.why))
        return dropped

    async def _judge_dispute(self, dispute: Dispute) -> bool:
        state = self._state
        try:
            judgement = await self._strategy.judge(dispute)
        except InvalidResponseError as error:
            judgement = Judgement(wrong="code", because=f"no usable judgement: {error}")
        self._emit(DisputeJudged(dispute, judgement))
        base = state.candidates.base
        state.disputes.append(
            DisputeEntry(
                test=dispute.test,
                why=dispute.why,
                wrong=judgement.wrong,
                because=judgement.because,
                source=state.active_tests.source(dispute.test),
                attempt=base.n if base else None,
            )
        )
        if judgement.wrong == "code":
            state.rulings.append(f"{dispute.test} stands: {judgement.because}")
            return False
        self._drop_test(dispute.test, judgement.because)
        return True

    def _drop_test(self, name: str, why: str) -> None:
        state = self._state
        state.suite = state.active_tests.drop(name, why, disputed=True)
        state.candidates.is_active = state.is_active
        if state.expected is not None:
            kept = frozenset(item for item in state.expected.ids if state.is_active(item))
            state.expected = Expectation(ids=kept, tolerated=state.expected.tolerated)


async def repair_until_green(
    run_and_grade: Callable[[], Awaitable[bool]], step: RepairStep
) -> None:
    """Ends when it is green, or when nothing is left to try. Raises GreenloopError."""
    while not await run_and_grade():
        if not await step.advance():
            return


def notify_already_healthy(state: RunState, emit: EventSink) -> None:
    """Says so, where what was to be healed was green as it was."""
    if state.green_run is not None and len(state.candidates.attempts) == 1:
        emit(Notice("nothing to heal: it is healthy as it is, and no model was asked"))


async def run_and_update_green(
    strategy: CandidateStrategy, state: RunState, emit: EventSink
) -> bool:
    """Runs the candidate; and the best again, where what it failed was dropped since."""
    run = await run_current_candidate(strategy, state, emit)
    if not run.passed and state.candidates.select_best_for_rerun():
        run = await run_current_candidate(strategy, state, emit)
    state.green_run = run if run.passed else None
    return run.passed
