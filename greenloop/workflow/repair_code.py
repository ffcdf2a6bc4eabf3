"""Repair of a red candidate: repair, dispute, rewrite, fallback model, or the end."""

from collections.abc import Sequence

from greenloop.errors import InvalidResponseError, NoModelError, ReplayExhaustedError
from greenloop.events import DisputeJudged, Stuck
from greenloop.records import Choice, DisputeEntry
from greenloop.records.generation import Dispute, Judgement
from greenloop.workflow.strategy import Strategy

_MAX_DISPUTES = 5
_MANY_GREEN = 5
_MAX_CLAIM_CHARS = 1000


class RepairStep:
    """Choice and execution of the next repair within the run's repair phase."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy, self._run, self._state = strategy, strategy.run, strategy.state

    async def advance(self) -> bool:
        """Do one repair or rewrite; return False if nothing is left to try.

        Raises GreenloopError: a model call failed.
        """
        if self._state.contradiction:
            return False
        if await self._judge_lone_red_test():
            return True
        if self._state.contradiction or self._state.repairs >= self._state.repair_phase.limit:
            return False
        self._state.repairs += 1
        if not self._state.candidates.stuck_reason:
            return await self._repair()
        return await self._try_alternative()

    async def _judge_lone_red_test(self) -> bool:
        """Request a judgement of the only red test among many green ones before the first repair.

        For an example of the text one green test is enough, as a repair would fit the code to it.
        Return whether the test was dropped. A recording without a judgement changes nothing.
        """
        base, result = self._state.candidates.current_tested
        failing, green = base.failing_tests(self._state.is_active), result.passed_count
        if self._state.repairs or len(failing) != 1 or self._run.state.road == "plain":
            return False
        (name,) = failing
        shown = next((item for item in result.failures if item.test == name), None)
        tests = self._state.active_tests
        may_bend = tests.origin(name) == "example" and self._state.repair_phase.limit > 0
        if green < (1 if may_bend else _MANY_GREEN):
            return False
        if shown is None or not tests.may_be_disputed(name) or tests.origin(name) == "peer":
            return False  # a ruling has demanded a peer's test
        claim = f"{green} tests pass and this one alone fails: {shown.exception}: {shown.message}"
        before = set(self._state.judged_tests)
        try:
            return await self._judge_disputes([Dispute(test=name, why=claim[:_MAX_CLAIM_CHARS])])
        except ReplayExhaustedError:
            self._state.judged_tests = before
            return False

    async def _try_alternative(self) -> bool:
        why, phase = self._state.candidates.stuck_reason, self._state.repair_phase
        if not phase.has_rewritten:
            phase.has_rewritten = True
            self._run.emit(Stuck(why, "rewriting from the contract"))
        elif self._can_fall_back:
            self._use_fallback(why)
        else:
            self._run.emit(Stuck(why, "stopping early"))
            self._state.repairs -= 1
            self._run.note(f"stuck: {why}, even after a rewrite")
            return False
        meter = self._run.measure_calls()
        try:
            generated = await self._strategy.rewrite(self._state.candidates.format_attempts())
        except InvalidResponseError as error:
            self._run.note(f"stuck: {why}; {error}")
            return False
        self._run.add_candidate("rewrite", generated.code, generated.explanation, meter)
        return True

    @property
    def _can_fall_back(self) -> bool:
        return self._run.client.has_fallback and not self._state.repair_phase.has_fallen_back

    def _use_fallback(self, why: str) -> None:
        self._state.repair_phase.has_fallen_back = True
        self._run.client.use_fallback()
        name = self._run.client.sources[0].name
        self._run.emit(Stuck(why, f"asking the fallback model, {name}"))

    async def _repair(self) -> bool:
        meter = self._run.measure_calls()
        base, result = self._state.candidates.current_tested
        try:
            request = self._strategy.describe_failures(base, result)
            repair = await self._strategy.request_repair(request)
        except InvalidResponseError as error:
            if not self._can_fall_back:
                return await self._continue_unchanged(str(error))
            self._use_fallback(str(error))
            return await self._repair()
        except NoModelError:  # nothing was repaired
            self._state.repairs -= 1
            raise
        dropped = await self._judge_disputes(repair.disputes)
        if self._state.contradiction:  # no code can be right
            return False
        if repair.code is not None and repair.code != base.code:
            self._run.add_candidate("repair", repair.code, repair.explanation, meter)
        elif not dropped:
            return await self._continue_unchanged()
        return True

    async def _continue_unchanged(self, why: str = "the repair changed nothing") -> bool:
        """Try an alternative at once: another run of the same code would show nothing new."""
        self._state.candidates.stuck_reason = why
        self._run.notify(why)
        if self._state.repairs >= self._state.repair_phase.limit:
            return True
        self._state.repairs += 1
        return await self._try_alternative()

    async def _judge_disputes(self, disputes: Sequence[Dispute]) -> bool:
        """Request judgements of disputes; return whether a test was dropped.

        A disputed test need not fail: wrong code can agree with a wrong test.
        """
        state, dropped = self._state, False
        for dispute in disputes[:_MAX_DISPUTES]:
            if state.contradiction:  # no code can be right
                break
            name = state.active_tests.name_of(dispute.test)
            if name is None or not state.active_tests.may_be_disputed(dispute.test):
                self._run.notify(f"dispute ignored: {dispute.test} is locked or unknown")
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
        self._run.emit(DisputeJudged(dispute, judgement))
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
        if state.active_tests.origin(dispute.test) == "example":
            example = " ".join(state.active_tests.source(dispute.test).split("\n")[1:])
            state.contradiction = (
                f"the text contradicts itself: its example `{' '.join(example.split())}` against "
                f"the rest of it ({judgement.because}): correct one of the two"
            )
            return False
        if judgement.wrong == "text":
            self._add_open_choice(dispute.test, judgement.because)
        state.drop_test(dispute.test, judgement.because, disputed=True)
        return True

    def _add_open_choice(self, test: str, question: str) -> None:
        contract = self._state.contract
        if contract is not None:
            choice = Choice(id=test, question=question, source="judge")
            choices = (*contract.choices, choice)
            self._state.contract = contract.model_copy(update={"choices": choices})
