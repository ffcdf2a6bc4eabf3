"""One step after a red run: repair, dispute, rewrite, the fallback model, or the end."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from greenloop.errors import UnusableAnswerError
from greenloop.events import DisputeJudged, Emit, Notice, Stuck
from greenloop.llm.client import Asker
from greenloop.records import AttemptKind, Dispute, DisputeEntry, Expectation, Judgement
from greenloop.workflow.candidates import Candidate, remark
from greenloop.workflow.state import RunState
from greenloop.workflow.strategy import Craft, try_out

_MOST_DISPUTES = 5


class Improver:
    """Decides what comes next. Rewriting and the fallback model are each tried once."""

    def __init__(self, craft: Craft, asker: Asker, state: RunState, emit: Emit, most: int) -> None:
        self._craft, self._asker, self._most = craft, asker, most
        self._state, self._emit = state, emit
        self._rewritten = False
        self._fallen_back = False

    async def improve(self) -> bool:
        """One repair or rewrite; False where nothing is left to try. Raises GreenloopError."""
        if self._state.repairs >= self._most:
            return False
        self._state.repairs += 1
        if not self._state.history.stuck:
            return await self._repaired()
        return await self._unstuck()

    async def _unstuck(self) -> bool:
        why = self._state.history.stuck
        if not self._rewritten:
            self._rewritten = True
            self._emit(Stuck(why, "rewriting from the contract"))
        elif self._asker.has_fallback and not self._fallen_back:
            self._fall_back(why)
        else:
            self._emit(Stuck(why, "stopping early"))
            self._state.repairs -= 1
            self._state.notes.append(f"stuck: {why}, also after a rewrite")
            return False
        await self._rewrite()
        return True

    def _fall_back(self, why: str) -> None:
        self._fallen_back = True
        self._asker.use_fallback()
        self._emit(Stuck(why, f"asking the fallback model, {self._asker.sources[0].name}"))

    async def _rewrite(self) -> None:
        started, before = time.monotonic(), self._state.ledger.tokens
        generated = await self._craft.rewrite(self._state.history.lines())
        self._enter("rewrite", generated.code, generated.explanation, started, before)

    async def _repaired(self) -> bool:
        started, before = time.monotonic(), self._state.ledger.tokens
        base = self._state.history.base
        assert base is not None
        assert base.run is not None
        try:
            repair = await self._craft.repair(base, base.run)
        except UnusableAnswerError as error:
            if not self._asker.has_fallback or self._fallen_back:
                raise
            self._fall_back(str(error))
            return True
        dropped = await self._disputed(repair.disputes)
        if repair.code is not None and repair.code != base.code:
            self._enter("repair", repair.code, repair.explanation, started, before)
        elif not dropped:
            self._state.history.stuck = "the repair changed nothing"
            self._emit(Notice("the repair changed nothing"))
            if self._state.repairs < self._most:
                self._state.repairs += 1
                return await self._unstuck()
        return True

    def _enter(
        self, kind: AttemptKind, code: str, explanation: str, started: float, tokens: int
    ) -> None:
        candidate = Candidate(code, kind, remark(explanation))
        spent = self._state.ledger.tokens - tokens
        self._state.history.enter(candidate, time.monotonic() - started, spent)

    async def _disputed(self, disputes: Sequence[Dispute]) -> bool:
        """Has the disputes judged; True where a test was dropped.

        A test need not fail now: wrong code can agree with a wrong test.
        """
        state = self._state
        dropped = False
        for dispute in disputes[:_MOST_DISPUTES]:
            name = state.standing.name_of(dispute.test)
            if name is None or not state.standing.may_be_disputed(dispute.test):
                self._emit(Notice(f"dispute passed over, {dispute.test} is locked or unknown"))
                continue
            if name not in state.judged:
                state.judged.add(name)
                dropped |= await self._judged(Dispute(test=name, why=dispute.why))
        return dropped

    async def _judged(self, dispute: Dispute) -> bool:
        state = self._state
        try:
            judgement = await self._craft.judge(dispute)
        except UnusableAnswerError as error:
            judgement = Judgement(wrong="code", because=f"no usable judgement: {error}")
        self._emit(DisputeJudged(dispute, judgement))
        base = state.history.base
        state.disputes.append(
            DisputeEntry(
                test=dispute.test,
                why=dispute.why,
                wrong=judgement.wrong,
                because=judgement.because,
                source=state.standing.source(dispute.test),
                attempt=base.n if base else None,
            )
        )
        if judgement.wrong == "code":
            state.rulings.append(f"{dispute.test} stands: {judgement.because}")
            return False
        self._drop(dispute.test, judgement.because)
        return True

    def _drop(self, name: str, why: str) -> None:
        state = self._state
        state.suite = state.standing.drop(name, why, disputed=True)
        state.history.stands = state.stands
        if state.expected is not None:
            kept = frozenset(item for item in state.expected.ids if state.stands(item))
            state.expected = Expectation(ids=kept, tolerated=state.expected.tolerated)


async def mend(is_green: Callable[[], Awaitable[bool]], improver: Improver) -> None:
    """Ends when it is green, or when nothing is left to try. Raises GreenloopError."""
    while not await is_green():
        if not await improver.improve():
            return


def tell_of_health(state: RunState, emit: Emit) -> None:
    """Says so, where what was to be healed was green as it was."""
    if state.green is not None and len(state.history.attempts) == 1:
        emit(Notice("nothing to heal: it is healthy as it is, and no model was asked"))


async def ran_green(craft: Craft, state: RunState, emit: Emit) -> bool:
    """Runs the candidate; and the best again, where what it failed was dropped since."""
    run = await try_out(craft, state, emit)
    if not run.passed and state.history.best_deserves_a_run():
        run = await try_out(craft, state, emit)
    state.green = run if run.passed else None
    return run.passed
