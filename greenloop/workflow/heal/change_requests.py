"""What the owner of a healed file asked for in words, once it was healed: made on top of that."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from greenloop.errors import InvalidResponseError
from greenloop.events import EventSink, Notice
from greenloop.records import Evidence, Repair, TestRun
from greenloop.testsuite import Suite
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.repair_code import RepairStep, repair_until_green
from greenloop.workflow.script.checklist import Checklist
from greenloop.workflow.state import RunState
from greenloop.workflow.strategy import CandidateStrategy

_NO_CHANGE = "the model changed nothing"


class ChangeStrategy(CandidateStrategy, Protocol):
    """A craft for what exists already."""

    async def change(self, base: Candidate) -> Repair:
        """What the model makes of a green candidate, as its owner's last wish has it."""
        ...


@dataclass
class ChangeRequests:
    """One after the other; `most` repairs for each. `is_green` runs the candidate in hand."""

    strategy: ChangeStrategy
    create_step: Callable[[int], RepairStep]
    run_and_grade: Callable[[], Awaitable[bool]]
    state: RunState
    emit: EventSink
    max_repairs: int

    async def apply(self) -> None:
        """All that the request has. One that cannot be granted is told, and what was reached before
        stands.

        Raises:
            GreenloopError: a call or the sandbox failed.
        """
        for words in self.state.request.amendments:
            if self.state.green_run is None:
                return
            await self._apply_one(words)

    async def _apply_one(self, change: str) -> None:
        state, before = self.state, _SavedState.from_state(self.state)
        state.change_requests.append(change)
        state.green_run = None
        why = await self._request_change(change)
        if not why:
            await repair_until_green(
                self.run_and_grade, self.create_step(state.repairs + self.max_repairs)
            )
            why = "" if state.green_run is not None else self._failure_reason()
        if why:
            before.restore(state)
            state.change_requests.remove(change)
            state.notes.append(f"asked for later and not done: {change}: {why}")
            self.emit(Notice(state.notes[-1]))

    async def _request_change(self, change: str) -> str:
        """Enters the changed code; why there is none, '' where there is."""
        history, started = self.state.candidates, time.monotonic()
        base, before = history.base, self.state.budget.tokens
        assert base is not None
        try:
            repair = await self.strategy.change(base)
        except InvalidResponseError as error:
            return str(error)
        if repair.code is None or repair.code == base.code:
            return _NO_CHANGE
        history.best = None  # whatever the code was before, it is not what is wanted now
        spent = self.state.budget.tokens - before
        changed = Candidate(repair.code, "repair", f"asked for: {change}")
        history.add(changed, time.monotonic() - started, spent)
        self.state.repairs += 1
        return ""

    def _failure_reason(self) -> str:
        best = self.state.candidates.best
        failing = sorted(best.failing_tests(self.state.is_active)) if best else []
        return f"{', '.join(failing[:3]) or 'the run'} did not pass"


@dataclass(frozen=True)
class _SavedState:
    """What was green before a wish."""

    base: Candidate | None
    best: Candidate | None
    green_run: TestRun | None
    suite: Suite | Checklist | None
    evidence: Evidence

    @classmethod
    def from_state(cls, state: RunState) -> _SavedState:
        history = state.candidates
        return cls(history.base, history.best, state.green_run, state.suite, state.evidence)

    def restore(self, state: RunState) -> None:
        state.candidates.base, state.candidates.best = self.base, self.best
        state.candidates.stuck_reason = ""
        state.green_run, state.suite, state.evidence = self.green_run, self.suite, self.evidence
