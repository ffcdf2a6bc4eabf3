"""After a green run: tests are added for faults that the suite does not notice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from greenloop.autofix import apply_free_fixes
from greenloop.errors import BudgetExhaustedError, ModelFailure
from greenloop.events import EventSink, HardeningDone, Notice
from greenloop.records import Expectation, Survivor, TestRun
from greenloop.testsuite import Suite
from greenloop.testsuite.parser import get_function_name
from greenloop.tools.toolkit import Toolkit
from greenloop.workflow.generate_tests import (
    STUB_RUN_NAME,
    build_contract_stub,
    drop_rejected_tests,
)
from greenloop.workflow.run_tests import run_suite
from greenloop.workflow.state import RunState

_MAX_SHOWN = 10


class Hardener:
    """A few rounds; the model sees the survivors, and the suite, never the whole code.

    What it adds passes the same gates as the first tests. That it cannot be asked, or answers
    nonsense, costs the run nothing: the green stands as it was.
    """

    def __init__(
        self, kit: Toolkit, state: RunState, emit: EventSink, max_rounds: int, max_repairs: int
    ) -> None:
        self._kit, self._state, self._emit = kit, state, emit
        self._rounds_left, self._max_repairs = max_rounds, max_repairs
        self._shown_ids: set[str] = set()

    async def harden(self) -> bool:
        """One round; True where tests were added, so that the code has to be tried again."""
        survivors = self._new_survivors()
        if not survivors or not self._can_harden():
            return False
        self._rounds_left -= 1
        shown = survivors[:_MAX_SHOWN]
        self._shown_ids |= {item.id for item in shown}
        try:
            added = await self._kit.harden_tests(
                self._state.agreed_contract,
                self._state.tests.code,
                shown,
                len(survivors) - len(shown),
            )
        except (ModelFailure, BudgetExhaustedError) as error:
            self._emit(Notice(f"no tests were added for surviving mutants: {error}"))
            return False
        return await self._add_tests(added, len(shown)) if added else False

    def _new_survivors(self) -> Sequence[Survivor]:
        state = self._state
        mutation = state.evidence.mutation
        if mutation is None or state.green_run is None or state.forgery_reason:
            return ()
        return tuple(item for item in mutation.survived if item.id not in self._shown_ids)

    def _can_harden(self) -> bool:
        """A test that the code fails has to be repaired or judged: without a repair left it cannot."""
        return self._rounds_left > 0 and self._state.repairs < self._max_repairs

    async def _add_tests(self, text: str, shown: int) -> bool:
        state = self._state
        code = apply_free_fixes(text, is_test=True).code
        suite = state.tests.harden(code)
        stub = build_contract_stub(state.agreed_contract)
        told = (self._kit, state, self._emit)
        on_stub = await run_suite(*told, stub, suite, None, STUB_RUN_NAME, brief=True)
        before = {item.name for _, item in state.tests.functions}
        suite = drop_rejected_tests(suite, on_stub, "hardening")
        names = [item.name for _, item in suite.functions if item.name not in before]
        if on_stub.ending != "finished":
            why = f"on a stub the run ended: {on_stub.ending}: {on_stub.detail}"
            self._emit(Notice(f"no tests were added for surviving mutants: {why}"))
            return False
        self._emit(HardeningDone(shown, tuple(names)))
        if not names:
            return False
        state.suite, state.green_run = suite, None
        state.expected = _extend_expectation(state.expected, suite, on_stub, names)
        return True


def _extend_expectation(
    expected: Expectation | None, suite: Suite, on_stub: TestRun, names: Iterable[str]
) -> Expectation | None:
    if expected is None:
        return None
    new = {item.id for item in on_stub.tests if get_function_name(item.id) in set(names)}
    ids = expected.ids | {item for item in new if suite.is_active(item)}
    return Expectation(ids=frozenset(ids), tolerated=expected.tolerated)
