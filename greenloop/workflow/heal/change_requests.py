"""What the owner of a healed file asked for in words, once it was healed: made on top of that."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from greenloop.errors import UnusableAnswerError
from greenloop.events import Emit, Notice
from greenloop.records import Evidence, Repair, TestRun
from greenloop.testsuite import Suite
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.repair_code import Improver, mend
from greenloop.workflow.script.checklist import Checklist
from greenloop.workflow.state import RunState
from greenloop.workflow.strategy import Craft

_DONE_ALREADY = "the model changed nothing"


class Changeable(Craft, Protocol):
    """A craft for what exists already."""

    async def change(self, base: Candidate) -> Repair:
        """What the model makes of a green candidate, as its owner's last wish has it."""
        ...


@dataclass
class Wishes:
    """One after the other; `most` repairs for each. `is_green` runs the candidate in hand."""

    craft: Changeable
    improver: Callable[[int], Improver]
    is_green: Callable[[], Awaitable[bool]]
    state: RunState
    emit: Emit
    most: int

    async def grant(self) -> None:
        """All that the request has. One that cannot be granted is told, and what was reached before
        stands.

        Raises:
            GreenloopError: a call or the sandbox failed.
        """
        for words in self.state.request.amendments:
            if self.state.green is None:
                return
            await self._one(words)

    async def _one(self, words: str) -> None:
        state, before = self.state, _Reached.of(self.state)
        state.wishes.append(words)
        state.green = None
        why = await self._changed(words)
        if not why:
            await mend(self.is_green, self.improver(state.repairs + self.most))
            why = "" if state.green is not None else self._why_red()
        if why:
            before.restore(state)
            state.wishes.remove(words)
            state.notes.append(f"asked for later and not done: {words}: {why}")
            self.emit(Notice(state.notes[-1]))

    async def _changed(self, words: str) -> str:
        """Enters the changed code; why there is none, '' where there is."""
        history, started = self.state.history, time.monotonic()
        base, before = history.base, self.state.ledger.tokens
        assert base is not None
        try:
            repair = await self.craft.change(base)
        except UnusableAnswerError as error:
            return str(error)
        if repair.code is None or repair.code == base.code:
            return _DONE_ALREADY
        history.best = None  # whatever the code was before, it is not what is wanted now
        spent = self.state.ledger.tokens - before
        changed = Candidate(repair.code, "repair", f"asked for: {words}")
        history.enter(changed, time.monotonic() - started, spent)
        self.state.repairs += 1
        return ""

    def _why_red(self) -> str:
        best = self.state.history.best
        failing = sorted(best.failing(self.state.stands)) if best else []
        return f"{', '.join(failing[:3]) or 'the run'} did not pass"


@dataclass(frozen=True)
class _Reached:
    """What was green before a wish."""

    base: Candidate | None
    best: Candidate | None
    green: TestRun | None
    suite: Suite | Checklist | None
    evidence: Evidence

    @classmethod
    def of(cls, state: RunState) -> _Reached:
        history = state.history
        return cls(history.base, history.best, state.green, state.suite, state.evidence)

    def restore(self, state: RunState) -> None:
        state.history.base, state.history.best = self.base, self.best
        state.history.stuck = ""
        state.green, state.suite, state.evidence = self.green, self.suite, self.evidence
