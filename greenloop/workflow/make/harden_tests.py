"""Hardening: tests added after a green run for mutants that the suite does not detect."""

from collections.abc import Sequence
from functools import partial

from greenloop.autofix import apply_free_fixes
from greenloop.errors import BudgetExhaustedError, ModelFailure
from greenloop.events import HardeningDone
from greenloop.records import Survivor
from greenloop.records.generation import AddedTests
from greenloop.testsuite.parser import get_function_name
from greenloop.threads import complete_in_thread
from greenloop.workflow.make.generate_tests import drop_rejected_tests, run_on_stub
from greenloop.workflow.state import Run

_MAX_SHOWN = 10


class Hardener:
    """Rounds of hardening; the model sees the surviving mutants and the suite, never the code.

    Added tests pass the same gates as the first ones. A failed or unusable call leaves the green
    run as it is.
    """

    def __init__(self, run: Run) -> None:
        self._run, self._rounds_left = run, run.settings.hardening_rounds
        self._shown_ids: set[str] = set()

    async def harden(self) -> bool:
        """Do one round. Return whether tests were added, so that the code has to run again."""
        survivors, missed = self._find_new_survivors(), self._find_missed_thresholds()
        if not survivors or not missed or not self._can_harden():
            return False
        self._rounds_left -= 1
        shown = survivors[:_MAX_SHOWN]
        self._shown_ids |= {item.id for item in shown}
        try:
            added = await self._request(shown, missed, len(survivors) - len(shown))
        except (ModelFailure, BudgetExhaustedError) as error:
            return self._skip(str(error))
        if added.code:
            return await self._add_tests(added.code, len(shown))
        self._keep_reason(added.reason)
        return False

    async def _request(
        self, shown: Sequence[Survivor], missed: Sequence[str], omitted: int
    ) -> AddedTests:
        state = self._run.state
        return await self._run.kit.harden_tests(
            state.agreed_contract, state.tests.code, shown, missed, omitted
        )

    def _skip(self, why: str) -> bool:
        self._run.notify(f"no tests were added for surviving mutants: {why}")
        return False

    def _find_new_survivors(self) -> Sequence[Survivor]:
        state = self._run.state
        mutation = state.evidence.mutation
        if mutation is None or state.green_run is None or state.forgery_reason:
            return ()
        return tuple(item for item in mutation.survived if item.id not in self._shown_ids)

    def _find_missed_thresholds(self) -> tuple[str, ...]:
        """Return the scores below their thresholds that more tests can raise."""
        evidence = self._run.state.evidence
        pieces = filter(None, (evidence.mutation, evidence.coverage))
        rows = (row for piece in pieces for row in piece.summary(evidence.thresholds))
        return tuple(f"{row.name}: {row.text}" for row in rows if not row.reached)

    def _keep_reason(self, reason: str) -> None:
        """Record why the survivors shown to the model need no test; they still count."""
        state = self._run.state
        mutation = state.evidence.mutation
        assert mutation is not None
        survived = (
            item.model_copy(update={"reason": reason}) if item.id in self._shown_ids else item
            for item in mutation.survived
        )
        changed = mutation.model_copy(update={"survived": tuple(survived)})
        state.evidence = state.evidence.model_copy(update={"mutation": changed})

    def _can_harden(self) -> bool:
        """Return whether a round and a repair are left: the code may fail an added test."""
        return self._rounds_left > 0 and self._run.state.repairs < self._run.settings.max_repairs

    async def _add_tests(self, text: str, shown: int) -> bool:
        state = self._run.state
        fix = partial(apply_free_fixes, text, is_test=True)
        fixed = await complete_in_thread(fix)
        suite = state.tests.harden(fixed.code)
        on_stub = await run_on_stub(self._run, suite)
        before = {item.name for _, item in state.tests.functions}
        suite = drop_rejected_tests(suite, on_stub, "hardening")
        names = [item.name for _, item in suite.functions if item.name not in before]
        if on_stub.ending != "finished":
            return self._skip(f"on a stub the run ended: {on_stub.ending}: {on_stub.detail}")
        if any(item.phase == "collect" for item in on_stub.failures):
            return self._skip("on a stub they cannot be collected: they call the module at import")
        self._run.emit(HardeningDone(shown, tuple(names)))
        if not names:
            return False
        state.suite, state.green_run = suite, None
        ids = (item.id for item in on_stub.tests)
        state.update_expectation(item for item in ids if get_function_name(item) in names)
        return True
