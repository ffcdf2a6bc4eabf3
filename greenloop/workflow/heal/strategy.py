"""A module that exists already as a candidate: mended with care, held to its owner's tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from greenloop.autofix import Fixed, free_fixes
from greenloop.records import Dispute, GeneratedCode, Judgement, Repair, TestRun
from greenloop.tools.script_toolkit import ScriptTools
from greenloop.tools.toolkit import RepairRequest
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.storage.request import Original
from greenloop.workflow.strategy import ModuleCraft, bounded, lost_by


@dataclass(frozen=True)
class HealCraft(ModuleCraft):
    """`original` is the module as it was; `hints` are diffs of patches that a search found."""

    original: Original
    hints: list[str] = field(default_factory=list)

    @property
    def tools(self) -> ScriptTools:
        return ScriptTools(self.kit.model, ", ".join(self.kit.packages.allowed.shown))

    def mended(self, code: str) -> Fixed:
        return free_fixes(code, minimal=True)

    async def repair(self, base: Candidate, run: TestRun) -> Repair:
        return await self._asked(self.request(base, run))

    async def change(self, base: Candidate) -> Repair:
        """What the model makes of a green module, as its owner's last wish has it."""
        told = "All tests pass. What its owner asks for is not done yet."
        return await self._asked(bounded(self.state, base.code, base.n, told, (), 0))

    async def rewrite(self, failed: Sequence[str]) -> GeneratedCode:
        """What is somebody's is not written anew: it is repaired from what it was at first."""
        first = self.state.history.tried[0]
        assert first.run is not None
        repair = await self._asked(self.request(first, first.run), from_the_original=True)
        return GeneratedCode(code=repair.code or first.code, explanation=repair.explanation)

    async def judge(self, dispute: Dispute) -> Judgement:
        """Never asked: tests of the person's are locked."""
        return Judgement(wrong="code", because=f"{dispute.test} is the person's own")

    async def _asked(self, request: RepairRequest, *, from_the_original: bool = False) -> Repair:
        return await self.tools.heal_code(
            self.state.tests.module,
            request,
            lost=self._lost,
            hint=self.hints[0] if self.hints else "",
            from_the_original=from_the_original,
            wishes=self.state.wishes,
        )

    def _lost(self, code: str) -> Sequence[str]:
        return lost_by(self.original, code, self.state.wishes)
