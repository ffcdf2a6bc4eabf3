"""Strategy of a change of a project: a patch that has to pass new and earlier tests."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from greenloop.autofix import FixResult
from greenloop.autofix.project_style import apply_project_style
from greenloop.errors import ContradictedTestError, InputError
from greenloop.events import ContractReady
from greenloop.project.code_map import build_code_map, list_signatures
from greenloop.project.code_map.interface import find_early_keep
from greenloop.project.integrity import explain_guard, is_in_fence
from greenloop.project.patch import diff_files
from greenloop.records import ChangePlan, Location, TestRun
from greenloop.records.generation import Dispute, GeneratedCode, GeneratedPeer, Judgement, Repair
from greenloop.specification.quotes import settle_contract
from greenloop.specification.tracing import trace_contract
from greenloop.tools.change_toolkit import ChangeToolkit
from greenloop.tools.shown_project import ShownFile, ShownProject, WishedChange
from greenloop.tools.toolkit import RepairRequest
from greenloop.workflow.change.grade import grade_change
from greenloop.workflow.change.harden_tests import ChangeHardener
from greenloop.workflow.change.peer import ChangePeerComparer
from greenloop.workflow.change.request import ChangeRequest
from greenloop.workflow.change.shown.files import show_files
from greenloop.workflow.change.shown.tests import select_tests
from greenloop.workflow.change.suite import ChangeSuite
from greenloop.workflow.change.unchanged import find_side_effects
from greenloop.workflow.change.workspace import ChangeWorkspace, read_project
from greenloop.workflow.change.write_tests import TestWriter
from greenloop.workflow.choices import ChoiceSettlement
from greenloop.workflow.grade_code import reveal_examples
from greenloop.workflow.make.plain_road import prefers_plain_road
from greenloop.workflow.make.review_code import confirm_background
from greenloop.workflow.state import Run
from greenloop.workflow.strategy import Strategy

MAP_TOKENS, MAX_TOUCHED_CHARS = 5000, 18_000
_MAX_GIVEN_CHARS = 12_000


class ChangeStrategy(Strategy):
    """Change of a project: its tests and code are written independently from one contract.

    A candidate is a patch of the code. The tests are in the suite, not in the patch.
    """

    _hardener: ChangeHardener

    def __init__(self, run: Run, request: ChangeRequest) -> None:
        super().__init__(run)
        self._request = request
        self._space = ChangeWorkspace(run, read_project(Path(request.root)))
        asked = WishedChange(request.task, request.fence, request.may_change)
        self._tools = ChangeToolkit(run.kit, asked)
        self._plan: ChangePlan | None = None
        self._located: tuple[str, ...] = ()
        self._choices = ChoiceSettlement(run)
        self._peer = ChangePeerComparer(self._space, self._write_peer)

    @property
    def plan(self) -> ChangePlan:
        """The plan, which has to exist, with the contract of the state."""
        assert self._plan is not None
        return self._plan.model_copy(update={"contract": self.state.agreed_contract})

    async def prepare(self) -> None:
        if prefers_plain_road(self.run):
            self.run.notify(
                "the model is too small: a change needs plans, edits and tests in forms that such a model "
                "rarely keeps, and has no shorter way; name a stronger one"
            )
        await self._space.prepare(measures_baseline=self._request.measures_baseline)
        given, files = self._show_given(), self._space.find_test_files()
        asked = replace(self._tools.asked, given_tests=given, test_files=files)
        self._tools = replace(self._tools, asked=asked)
        self._located = await self._locate()
        shown = self._show_project()
        await self._make_plan(shown)
        await self._choices.settle_before_code()
        writer = TestWriter(self._space, self._tools, self.plan)
        self._hardener = ChangeHardener(self.run, writer, self._tools)
        if self._request.given:
            suite = await writer.take_given()
        else:
            signatures = list_signatures(self._space.tree.texts, self._located)
            suite = await writer.write(signatures)
        self.state.suite, self.state.candidates.locked = suite, suite.locked
        meter = self.run.measure_calls("write_change")
        written = await self._write()
        self.run.add_candidate("generate", written.code, written.explanation, meter)

    def _show_given(self) -> str:
        """Return the user's own tests, without those that the project has and that pass today."""
        files = {item.name: item.code for item in self._request.given}
        texts, locked = self._space.tree.texts, self._space.select_locked(files)
        return ChangeSuite(texts, files, locked, is_given=True).code[:_MAX_GIVEN_CHARS]

    async def _locate(self) -> tuple[str, ...]:
        """Return the paths of the files that the change concerns; () in an empty project."""
        texts = self._space.tree.texts
        if not texts:
            return ()
        code_map = build_code_map(texts, self._request.task, MAP_TOKENS)
        found: Location = await self._tools.locate(code_map, texts.keys())
        if not found.files:
            read = show_files(texts, found.need, self._request.task)
            found = await self._tools.locate(code_map, texts.keys(), read)
        self.run.notify(f"files: {', '.join(found.files)}")
        return found.files

    def _show_project(self) -> ShownProject:
        texts = self._space.tree.texts
        wish = self._request.task
        tests, omitted = select_tests(texts, self._space.baseline, self._located, wish)
        return ShownProject(
            files=show_files(texts, self._located, wish),
            context=list_signatures(texts, self._located, imported=True),
            tests=tests,
            omitted_tests=omitted,
        )

    async def _make_plan(self, shown: ShownProject) -> None:
        """Set plan and contract. Raises ContradictedTestError: a locked test contradicts it."""
        locked = frozenset(self._space.baseline.locked)
        texts = self._space.tree.texts
        plan = await self._tools.plan(shown, locked, texts)
        fence = self._check_fence(plan.fence)
        early = find_early_keep(texts, plan.contract)
        for label, name in early.items():
            self.run.note(
                f"{label} was dropped: it has to pass today, and {name} does not exist yet"
            )
        self._plan = plan.model_copy(update={"fence": fence})
        contract = self._request.contract or plan.contract
        keep = tuple(item for item in plan.contract.keep if item.id not in early)
        update = {"specification": self._request.task, "keep": keep}
        contract = settle_contract(trace_contract(contract.model_copy(update=update)))
        self.state.contract = contract
        tests = [item for item in plan.contradicts if item not in self._request.may_change]
        if not tests:
            await confirm_background(self.run, self._tools.review_background)
        self.run.emit(ContractReady(self.state.agreed_contract))
        if self.state.change:
            self.state.change = self.state.change.model_copy(update={"fence": fence})
        if tests:
            unlock = " ".join(f"--may-change {item}" for item in tests)
            raise ContradictedTestError(
                f"the wish contradicts {', '.join(tests)}: change the wish, or unlock what it "
                f"contradicts with {unlock}"
            )

    def _check_fence(self, fence: Sequence[str]) -> tuple[str, ...]:
        """Return the fence without files that need the user's permission. Raises InputError."""
        reasons = {item: explain_guard(item, self._space.tree.texts) for item in fence}
        guarded = [item for item, why in reasons.items() if why and item not in self._request.fence]
        for item in guarded:
            self.run.note(f"{item} may not be changed: {reasons[item]}; --fence allows it")
        left = tuple(item for item in fence if item not in guarded)
        if not left:
            raise InputError(
                f"the wish needs {', '.join(guarded)} to change: allow it with --fence"
            )
        self._space.check_encoding(item for item in self._located if is_in_fence(item, left))
        return left

    async def _write(self, failed_approaches: Sequence[str] = ()) -> GeneratedCode:
        texts, shown = self._space.tree.texts, self._show_files()
        return await self._tools.write(self.plan, shown, texts, failed_approaches)

    async def _write_peer(self) -> GeneratedPeer:
        kit = replace(self.run.kit, model=self.run.client.with_fallback_first())
        texts, shown = self._space.tree.texts, self._show_files()
        return await replace(self._tools, kit=kit).write_peer(self.plan, shown, texts)

    def _show_files(self) -> ShownProject:
        texts = self._space.tree.texts
        return ShownProject(
            files=self._show_touched(texts, self._located),
            context=list_signatures(texts, self._located, imported=True),
        )

    def _show_touched(self, texts: Mapping[str, str], paths: Sequence[str]) -> list[ShownFile]:
        wish, touches = self._request.task, self.plan.touches
        return show_files(texts, paths, wish, MAX_TOUCHED_CHARS, touches)

    def apply_autofix(self, code: str) -> FixResult:
        """Fix new findings in the changed files with the project's own ruff and formatter."""
        tree, changes = self._space.tree, self._space.apply(code)
        texts = {path: text for path, text in changes.items() if text is not None}
        styled = apply_project_style(tree.project.all_files, texts)
        for finding in styled.findings:
            self.run.notify_once(finding, f"new finding: {finding}")
        return FixResult(diff_files(tree.texts, {**changes, **styled.texts}), styled.applied)

    async def run_candidate(self, code: str) -> TestRun:
        return await self._space.run_candidate(code, self.state.change_suite)

    async def grade(self, result: TestRun) -> bool:
        patch = self.state.candidates.current.code
        if not self._request.measures_baseline and self._space.tree.texts:
            return False  # grading runs the project's tests too
        await grade_change(self._space, self.state.change_suite, patch)
        if self.state.change:
            effects = await find_side_effects(self._space, self.plan, patch)
            self.state.change = self.state.change.model_copy(update={"before_after": effects})
        return reveal_examples(self.run)

    async def extend(self) -> bool:
        if not self._request.measures_baseline and self._space.tree.texts:
            return False
        for step in (self._hardener.harden, self._peer.compare):
            if await step():
                return True
        return await self._choices.settle_after_code(ask=not self.state.forgery_reason)

    async def undo_change(self) -> bool:
        return await self._choices.settle_after_code(ask=False)

    async def request_repair(
        self, request: RepairRequest, *, from_the_original: bool = False
    ) -> Repair:
        space = self._space
        changes = space.apply(request.code)
        merged = {**space.tree.texts, **changes}
        current = {path: text for path, text in merged.items() if text is not None}
        files = self._show_touched(current, tuple(dict.fromkeys((*changes, *self._located))))
        return await self._tools.repair(self.plan, request, files, space.tree.texts, current)

    async def rewrite(self, failed_approaches: Sequence[str]) -> GeneratedCode:
        return await self._write(failed_approaches)

    async def judge(self, dispute: Dispute) -> Judgement:
        return await self.run.kit.judge_test(
            self.state.agreed_contract,
            self.state.change_suite.source_in_context(dispute.test),
            dispute,
        )
