"""What the loop needs, whatever is made: a module held to tests, or a script held to checks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from greenloop.autofix import Fixed, free_fixes
from greenloop.errors import InputError, OutputError
from greenloop.events import Attempted, Emit, FreeFixed
from greenloop.llm.parsing.completeness import public_names
from greenloop.prompts.failure_context import ShownFailure, shown_failures, summary
from greenloop.records import Dispute, GeneratedCode, Judgement, Repair, TestRun
from greenloop.scripts.regression import dropped
from greenloop.scripts.source_file import SourceFile
from greenloop.tools.toolkit import RepairRequest, Toolkit
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.run_tests import run_suite
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.request import Original

_RULINGS = 5


class Craft(Protocol):
    """How candidates of one kind are mended for nothing, run, repaired and written anew."""

    def mended(self, code: str) -> Fixed:
        """The code after the fixes that cost nothing."""
        ...

    async def run(self, code: str) -> TestRun:
        """One run. Raises SandboxError."""
        ...

    async def repair(self, base: Candidate, run: TestRun) -> Repair:
        """What the model makes of a candidate whose run was red. Raises GreenloopError."""
        ...

    async def rewrite(self, failed: Sequence[str]) -> GeneratedCode:
        """Another way than those that failed. Raises GreenloopError."""
        ...

    async def judge(self, dispute: Dispute) -> Judgement:
        """Who is wrong, from what was asked for alone. Raises GreenloopError."""
        ...


@dataclass(frozen=True)
class ModuleCraft:
    """A module that is written from a contract."""

    kit: Toolkit
    state: RunState
    emit: Emit

    def mended(self, code: str) -> Fixed:
        return free_fixes(code, keep=public_names(self.state.agreed.interface))

    async def run(self, code: str) -> TestRun:
        state = self.state
        return await run_suite(self.kit, state, self.emit, code, state.tests, state.expected)

    async def repair(self, base: Candidate, run: TestRun) -> Repair:
        return await self.kit.repair_code(self.state.agreed, self.request(base, run))

    async def rewrite(self, failed: Sequence[str]) -> GeneratedCode:
        return await self.kit.generate_code(self.state.agreed, failed)

    async def judge(self, dispute: Dispute) -> Judgement:
        source = self.state.tests.source(dispute.test)
        return await self.kit.judge_test(self.state.agreed, source, dispute)

    def request(self, base: Candidate, run: TestRun) -> RepairRequest:
        """What a repair is told: bounded, however many attempts there were."""
        state = self.state
        run = standing_failures(state, run)
        shown = shown_failures(run, state.tests)
        return bounded(state, base.code, base.n, summary(run), shown, len(run.failing))


def bounded(
    state: RunState, code: str, n: int, told: str, shown: Sequence[ShownFailure], of: int
) -> RepairRequest:
    """What a repair of attempt `n` is told: its run, of whose `of` failures some are shown, one line
    for each of the other attempts, and the last rulings."""
    return RepairRequest(
        code=code,
        summary=told,
        failures=shown,
        omitted=max(0, of - len(shown)),
        history=state.history.lines(but=n),
        rulings=tuple(state.rulings[-_RULINGS:]),
    )


def lost_by(original: Original, code: str, wishes: Sequence[str] = ()) -> Sequence[str]:
    """What a repair of somebody's file loses that has to stay; signs that the file cannot hold.

    What is named in its owner's wishes may go.
    """
    known = free_fixes(original.text, minimal=True).code
    gone = [item for item in dropped(known, code) if not _named(item, wishes)]
    return [*gone, *_unwritable(original, code)]


def _named(gone: str, wishes: Sequence[str]) -> bool:
    """Whether a line of `dropped` is about something that a wish names: a function, an option, an
    output."""
    names = re.findall(r"`([^`]+)`|'([^']+)'", gone)
    return any(name.strip() in wish for pair in names for name in pair if name for wish in wishes)


def _unwritable(original: Original, code: str) -> Sequence[str]:
    try:
        SourceFile.read(Path(original.path)).encode(code)
    except OutputError as error:
        return [f"what the file can hold: {str(error).removeprefix(original.path)}"]
    except InputError:  # it is gone, or another by now: that is told when it would be written
        pass
    return []


def standing_failures(state: RunState, run: TestRun) -> TestRun:
    """The run without the failures of what was dropped."""
    standing = tuple(item for item in run.failures if state.stands(item.test))
    return run.model_copy(update={"failures": standing})


async def try_out(craft: Craft, state: RunState, emit: Emit) -> TestRun:
    """Runs the candidate that is to be built on, after the fixes that cost nothing."""
    candidate = _mended_for_nothing(craft, state, emit)
    run = await craft.run(candidate.code)
    state.history.enter_run(candidate, run)
    emit(Attempted(state.history.attempts[candidate.n - 1], run))
    return run


def _mended_for_nothing(craft: Craft, state: RunState, emit: Emit) -> Candidate:
    candidate = state.history.base
    assert candidate is not None
    fixed = craft.mended(candidate.code)
    if not fixed.applied:
        return state.history.reformatted(candidate, fixed.code)
    emit(FreeFixed(fixed.applied))
    return state.history.enter(Candidate(fixed.code, "free-fix", "; ".join(fixed.applied)))
