"""Strategy of an existing file: small repairs that keep its features, then the user's changes."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from greenloop.autofix import FixResult, apply_free_fixes
from greenloop.errors import InputError, InvalidResponseError, OutputError
from greenloop.records import Evidence, TestRun
from greenloop.records.generation import GeneratedCode
from greenloop.scripts.regression import find_regressions
from greenloop.scripts.source_file import SourceFile
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.heal.request import HealModuleRequest, HealScriptRequest, OriginalFile
from greenloop.workflow.state import AnySuite, RepairPhase, Run
from greenloop.workflow.strategy import Strategy

# The base, the best candidate, the green run, the suite and the evidence.
_GreenState = tuple[Candidate | None, Candidate | None, TestRun | None, AnySuite | None, Evidence]

_NO_CHANGE = "the model changed nothing"


class HealStrategy(Strategy):
    """Repair of an existing file until it is green, then changes that the user asked for.

    The file is never rewritten: instead of a rewrite, the first candidate is repaired again.
    Changes are made one after the other on green code, each in its own repair phase. A change that
    cannot be made green is undone and noted.
    """

    request: HealModuleRequest | HealScriptRequest
    green_summary: ClassVar[str]  # summary of the last run in the prompt of a change
    keeps_features = True

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._waiting_changes = list(run.state.request.amendments)
        self.current_change: tuple[str, _GreenState] | None = None

    def apply_autofix(self, code: str) -> FixResult:
        return apply_free_fixes(code, minimal=True)

    async def extend(self) -> bool:
        self.notify_if_healthy()
        return await self._begin_next_change()

    def notify_if_healthy(self) -> None:
        """Emit a notice if the file was green before any repair."""
        if len(self.state.candidates.attempts) == 1:
            self.run.notify("nothing to heal: it passes as it is, and no model was called")

    async def rewrite(self, failed_approaches: Sequence[str]) -> GeneratedCode:
        first = min(self.state.candidates.tested_candidates, key=lambda item: item.n)
        assert first.run is not None
        request = self.describe_failures(first, first.run)
        repair = await self.request_repair(request, from_the_original=True)
        return GeneratedCode(code=repair.code or first.code, explanation=repair.explanation)

    def find_lost_features(self, code: str) -> Sequence[str]:
        """Return what a repair of a file loses, and characters that its encoding cannot hold.

        Features that a change request names may be lost.
        """
        original, changes = self.request.original, self.state.change_requests
        known = apply_free_fixes(original.text, minimal=True).code
        lost = find_regressions(known, code)
        kept = [item for item in lost if not _is_named_in(item, changes)]
        return [*kept, *_find_encoding_errors(original, code)]

    async def _begin_next_change(self) -> bool:
        """Add a candidate for the next change; return False if there is none left."""
        state, self.current_change = self.state, None
        while self._waiting_changes:
            change, tried = self._waiting_changes.pop(0), state.candidates
            green = (tried.base, tried.best, state.green_run, state.suite, state.evidence)
            state.change_requests.append(change)
            state.green_run = None
            why = await self._add_changed_code(change)
            if not why:
                state.repair_phase = RepairPhase(state.repairs + self.run.settings.max_repairs)
                self.current_change = (change, green)
                return True
            self._undo(change, green, why)
        return False

    async def undo_change(self) -> bool:
        if self.current_change is None:
            return False
        best = self.state.candidates.best
        failing = sorted(best.failing_tests(self.state.is_active)) if best else []
        self._undo(*self.current_change, f"{', '.join(failing[:3]) or 'the run'} did not pass")
        return await self._begin_next_change()

    def _undo(self, change: str, green: _GreenState, why: str) -> None:
        state, tried = self.state, self.state.candidates
        tried.base, tried.best, state.green_run, state.suite, state.evidence = green
        tried.stuck_reason = ""
        state.change_requests.remove(change)
        text = f"requested later and not done: {change}: {why}"
        self.run.note(text)
        self.run.notify(text)

    async def _add_changed_code(self, change: str) -> str:
        """Add the changed code as a candidate; return why there is none, else ''."""
        candidates, meter = self.state.candidates, self.run.measure_calls()
        base = candidates.current
        try:
            repair = await self.request_repair(self.build_request(base, self.green_summary))
        except InvalidResponseError as error:
            return str(error)
        if repair.code is None or repair.code == base.code:
            return _NO_CHANGE
        candidates.best = None  # even the best candidate so far lacks the change
        changed = Candidate(repair.code, "repair", f"asked for: {change}")
        candidates.add(changed, meter.seconds, meter.tokens)
        self.state.repairs += 1
        return ""


def _is_named_in(loss: str, change_requests: Sequence[str]) -> bool:
    """Return whether a change request names the function, option, or output that is lost."""
    names = re.findall(r"`([^`]+)`|'([^']+)'", loss)
    return any(
        name.strip() in text for pair in names for name in pair if name for text in change_requests
    )


def _find_encoding_errors(original: OriginalFile, code: str) -> Sequence[str]:
    try:
        SourceFile.from_path(Path(original.path)).encode(code)
    except OutputError as error:
        return [f"what the file can hold: {str(error).removeprefix(original.path)}"]
    except InputError:  # the file was changed or removed: that is reported on delivery
        pass
    return []
