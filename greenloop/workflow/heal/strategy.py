"""A module that exists already as a candidate: mended with care, held to its owner's tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from greenloop.autofix import FixResult, apply_free_fixes
from greenloop.records import Dispute, GeneratedCode, Judgement, Repair, TestRun
from greenloop.tools.script_toolkit import ScriptToolkit
from greenloop.tools.toolkit import RepairRequest
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.storage.request import OriginalFile
from greenloop.workflow.strategy import ModuleStrategy, build_repair_request, find_lost_features


@dataclass(frozen=True)
class HealStrategy(ModuleStrategy):
    """`original` is the module as it was; `hints` are diffs of patches that a search found."""

    original: OriginalFile
    hints: list[str] = field(default_factory=list)

    @property
    def tools(self) -> ScriptToolkit:
        packages = ", ".join(self.kit.packages.allowlist.descriptions)
        return ScriptToolkit(self.kit.model, packages, prompts=self.kit.prompts)

    def apply_autofix(self, code: str) -> FixResult:
        return apply_free_fixes(code, minimal=True)

    async def repair(self, base: Candidate, run: TestRun) -> Repair:
        return await self._request_repair(self.build_request(base, run))

    async def change(self, base: Candidate) -> Repair:
        """What the model makes of a green module, as its owner's last wish has it."""
        told = "All tests pass. What its owner asks for is not done yet."
        return await self._request_repair(
            build_repair_request(self.state, base.code, base.n, told, (), 0)
        )

    async def rewrite(self, failed_approaches: Sequence[str]) -> GeneratedCode:
        """What is somebody's is not written anew: it is repaired from what it was at first."""
        first = self.state.candidates.tested_candidates[0]
        assert first.run is not None
        repair = await self._request_repair(
            self.build_request(first, first.run), from_the_original=True
        )
        return GeneratedCode(code=repair.code or first.code, explanation=repair.explanation)

    async def judge(self, dispute: Dispute) -> Judgement:
        """Never asked: tests of the person's are locked."""
        return Judgement(wrong="code", because=f"{dispute.test} is the person's own")

    async def _request_repair(
        self, request: RepairRequest, *, from_the_original: bool = False
    ) -> Repair:
        return await self.tools.heal_code(
            self.state.tests.module,
            request,
            lost=self._find_lost_features,
            hint=self.hints[0] if self.hints else "",
            from_the_original=from_the_original,
            change_requests=self.state.change_requests,
        )

    def _find_lost_features(self, code: str) -> Sequence[str]:
        return find_lost_features(self.original, code, self.state.change_requests)
