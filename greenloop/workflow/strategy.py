"""What the loop needs, whatever is made: a module held to tests, or a script held to checks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from greenloop.autofix import FixResult, apply_free_fixes
from greenloop.errors import InputError, OutputError
from greenloop.events import AutofixApplied, CandidateTested, EventSink
from greenloop.llm.parsing.completeness import public_names
from greenloop.prompts.failure_context import ShownFailure, select_failures, summarize_run
from greenloop.records import Dispute, GeneratedCode, Judgement, Repair, TestRun
from greenloop.scripts.regression import find_regressions
from greenloop.scripts.source_file import SourceFile
from greenloop.tools.toolkit import RepairRequest, Toolkit
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.run_tests import run_suite
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.request import OriginalFile

_MAX_RULINGS = 5


class CandidateStrategy(Protocol):
    """How candidates of one kind are mended for nothing, run, repaired and written anew."""

    def apply_autofix(self, code: str) -> FixResult:
        """The code after the fixes that cost nothing."""
        ...

    async def run(self, code: str) -> TestRun:
        """One run. Raises SandboxError."""
        ...

    async def repair(self, base: Candidate, run: TestRun) -> Repair:
        """What the model makes of a candidate whose run was red. Raises GreenloopError."""
        ...

    async def rewrite(self, failed_approaches: Sequence[str]) -> GeneratedCode:
        """Another way than those that failed. Raises GreenloopError."""
        ...

    async def judge(self, dispute: Dispute) -> Judgement:
        """Who is wrong, from what was asked for alone. Raises GreenloopError."""
        ...


@dataclass(frozen=True)
class ModuleStrategy:
    """A module that is written from a contract."""

    kit: Toolkit
    state: RunState
    emit: EventSink

    def apply_autofix(self, code: str) -> FixResult:
        return apply_free_fixes(code, kept_names=public_names(self.state.agreed_contract.interface))

    async def run(self, code: str) -> TestRun:
        state = self.state
        return await run_suite(self.kit, state, self.emit, code, state.tests, state.expected)

    async def repair(self, base: Candidate, run: TestRun) -> Repair:
        return await self.kit.repair_code(self.state.agreed_contract, self.build_request(base, run))

    async def rewrite(self, failed_approaches: Sequence[str]) -> GeneratedCode:
        return await self.kit.generate_code(self.state.agreed_contract, failed_approaches)

    async def judge(self, dispute: Dispute) -> Judgement:
        source = self.state.tests.source(dispute.test)
        return await self.kit.judge_test(self.state.agreed_contract, source, dispute)

    def build_request(self, base: Candidate, run: TestRun) -> RepairRequest:
        """What a repair is told: bounded, however many attempts there were."""
        state = self.state
        run = select_active_failures(state, run)
        shown = select_failures(run, state.tests)
        return build_repair_request(
            state, base.code, base.n, summarize_run(run), shown, len(run.failing_tests)
        )


def build_repair_request(
    state: RunState,
    code: str,
    attempt: int,
    failure_summary: str,
    failures: Sequence[ShownFailure],
    failure_count: int,
) -> RepairRequest:
    """What a repair of attempt `n` is told: its run, of whose `of` failures some are shown, one line
    for each of the other attempts, and the last rulings."""
    return RepairRequest(
        code=code,
        summary=failure_summary,
        failures=failures,
        omitted=max(0, failure_count - len(failures)),
        history=state.candidates.format_attempts(exclude=attempt),
        rulings=tuple(state.rulings[-_MAX_RULINGS:]),
    )


def find_lost_features(
    original: OriginalFile, code: str, change_requests: Sequence[str] = ()
) -> Sequence[str]:
    """What a repair of somebody's file loses that has to stay; signs that the file cannot hold.

    What is named in its owner's wishes may go.
    """
    known = apply_free_fixes(original.text, minimal=True).code
    gone = [
        item for item in find_regressions(known, code) if not _is_named_in(item, change_requests)
    ]
    return [*gone, *_find_encoding_errors(original, code)]


def _is_named_in(loss: str, change_requests: Sequence[str]) -> bool:
    """Whether a line of `dropped` is about something that a wish names: a function, an option, an
    output."""
    names = re.findall(r"`([^`]+)`|'([^']+)'", loss)
    return any(
        name.strip() in wish for pair in names for name in pair if name for wish in change_requests
    )


def _find_encoding_errors(original: OriginalFile, code: str) -> Sequence[str]:
    try:
        SourceFile.from_path(Path(original.path)).encode(code)
    except OutputError as error:
        return [f"what the file can hold: {str(error).removeprefix(original.path)}"]
    except InputError:  # it is gone, or another by now: that is told when it would be written
        pass
    return []


def select_active_failures(state: RunState, run: TestRun) -> TestRun:
    """The run without the failures of what was dropped."""
    standing = tuple(item for item in run.failures if state.is_active(item.test))
    return run.model_copy(update={"failures": standing})


async def run_current_candidate(
    strategy: CandidateStrategy, state: RunState, emit: EventSink
) -> TestRun:
    """Runs the candidate that is to be built on, after the fixes that cost nothing."""
    candidate = _autofix_current_candidate(strategy, state, emit)
    run = await strategy.run(candidate.code)
    state.candidates.record_run(candidate, run)
    emit(CandidateTested(state.candidates.attempts[candidate.n - 1], run))
    return run


def _autofix_current_candidate(
    strategy: CandidateStrategy, state: RunState, emit: EventSink
) -> Candidate:
    candidate = state.candidates.base
    assert candidate is not None
    fixed = strategy.apply_autofix(candidate.code)
    if not fixed.applied:
        return state.candidates.replace_source(candidate, fixed.code)
    emit(AutofixApplied(fixed.applied))
    return state.candidates.add(Candidate(fixed.code, "free-fix", "; ".join(fixed.applied)))
