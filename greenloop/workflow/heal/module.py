"""Strategy of an existing module: repaired by search or by a model until the user's tests pass."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from greenloop.errors import InputError, NoModelError, SandboxError
from greenloop.events import ChoiceAnswered, RepairSearchDone
from greenloop.events.progress import progress_span
from greenloop.grading.peer.comparison import PeerProgram, compare_programs
from greenloop.project.tree import read_tree
from greenloop.records import Choice, Expectation, Patch, SearchResult
from greenloop.records.generation import Dispute, Judgement, Repair
from greenloop.records.pytest_run import MARKED_OUTCOMES
from greenloop.repair import search_patches
from greenloop.sandbox import Sandbox
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.syntax.parse import PARSE_ERRORS
from greenloop.testsuite import Suite
from greenloop.testsuite.programs.rows import MADE
from greenloop.testsuite.stubs import with_empty_bodies
from greenloop.testsuite.used_definitions import write_out_helpers
from greenloop.tools.script_toolkit import ScriptToolkit
from greenloop.tools.toolkit import RepairRequest
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.choices import ask_user
from greenloop.workflow.heal.request import HealModuleRequest
from greenloop.workflow.heal.strategy import HealStrategy
from greenloop.workflow.make.strategy import ModuleStrategy
from greenloop.workflow.run_tests import run_suite
from greenloop.workflow.setup.packages import add_declared_packages
from greenloop.workflow.state import RepairPhase, Run

_SEARCH_SECONDS_WITH_MODEL, _SEARCH_SECONDS_WITHOUT_MODEL = 2.0, 60.0
_MAX_COMPARED_PATCHES = 3
_SEARCH_ONLY_NOTE = "found by a search that used only these tests, so they cannot confirm it"


class HealModuleStrategy(HealStrategy, ModuleStrategy):
    """Repair of a module with locked tests. Without a model the search is the only step.

    With a model the search is short, and its best patch is a hint in the prompts.
    """

    green_summary = "All tests pass. What its owner asks for is not done yet."

    def __init__(self, run: Run, request: HealModuleRequest) -> None:
        super().__init__(run)
        self.request: HealModuleRequest = request
        self._is_search_only = run.settings.is_model_disabled
        self._has_searched = False
        self._hint = ""
        self._patches: tuple[Patch, ...] = ()  # found by the search, until one is chosen

    async def prepare(self) -> None:
        """Set the user's tests as the suite. Raises InputError: the project is unreadable."""
        state, request = self.state, self.request
        if request.project:
            tree = read_tree(Path(request.project.root))
            tree = tree.with_changes({}, request.project.targets)
            await add_declared_packages(state, tree, self.run.settings, self.run.emit)
            sandbox = ProjectSandbox(self.run.kit.sandbox, tree.project, request.project.path)
            self.run.kit = replace(self.run.kit, sandbox=sandbox)
        if self._is_search_only:
            state.repair_phase = RepairPhase(0)
        state.suite = Suite(
            module=request.module or "",
            user_files=tuple(item.as_test_file() for item in request.given),
            path=request.project.path if request.project else "",
        )
        state.expected = await self._collect_expectation()
        state.candidates.add(Candidate(request.original.text, "generate", "the module as it was"))

    async def _collect_expectation(self) -> Expectation | None:
        """Return the tests that have to report: those that report on the original module.

        Tests that skip there, or fail as their mark expects, may do so after a repair. If the
        module cannot be loaded, tests count that report with empty function bodies; None if these
        are unknown too.
        """
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            for change in (str, with_empty_bodies):
                result = await run_suite(
                    self.run, change(self.request.original.text), self.state.tests
                )
                is_collected = not any(item.phase == "collect" for item in result.failures)
                if result.ending != "finished" or not is_collected:
                    continue
                if not result.tests:
                    names = ", ".join(item.name for item in self.state.tests.files)
                    raise InputError(f"no tests were collected from {names}")
                marked = (i.id for i in result.tests if i.outcome in MARKED_OUTCOMES)
                ids = frozenset(item.id for item in result.tests)
                return Expectation(ids=ids, tolerated=frozenset(marked))
        return None

    async def extend(self) -> bool:
        if self._is_search_only:
            self.notify_if_healthy()
            return await self._change_patch()
        return await super().extend()

    async def search_repair(self) -> bool:
        """Search once, before the first repair by a model."""
        if self._has_searched or self.current_change is not None:
            return False
        self._has_searched = True
        found = await self._search()
        if not found.patches:
            return False
        best = found.patches[0]
        if not self.run.client.sources and not self._is_search_only:
            raise NoModelError(
                "no model is configured, but the search found a repair: add --model none to accept it"
            )
        if not self._is_search_only:
            self._hint = best.diff
            return False
        self.state.candidates.add(Candidate(best.code, "free-fix", best.change))
        self.run.note(_SEARCH_ONLY_NOTE)
        return True

    async def _change_patch(self) -> bool:
        """Add the patch that the user chooses instead of the first; return whether there is one.

        Without a user, note the other patches. The first one is already graded.
        """
        found, self._patches = self._patches, ()
        if len(found) < 2:
            return False
        best, *others = found
        difference = await self._find_difference(best, others)
        if self.run.asker is None:
            count = f"{len(others)} other edit{'s' * (len(others) > 1)}"
            self.run.note(f"patches: all tests also pass with {count}; {difference}")
            return False
        by_change = {item.change: item for item in found}
        question = f"All tests pass with each of these edits. Which one? ({difference})"
        choice = Choice(id="P1", question=question, answers=tuple(by_change), chosen=best.change)
        answer = await ask_user(self.run, choice)
        self.run.emit(ChoiceAnswered(choice, answer))
        chosen = by_change.get(answer.answer, best)
        if chosen is not best:
            self.state.candidates.add(Candidate(chosen.code, "free-fix", chosen.change))
        return chosen is not best

    async def _find_difference(self, best: Patch, others: Sequence[Patch]) -> str:
        """Describe an input on which another patch answers differently, or why there is none."""
        suite, problem = self.state.tests, ""
        for other in others[:_MAX_COMPARED_PATCHES]:
            work = partial(
                compare_programs,
                module=suite.module,
                code=best.code,
                peer=PeerProgram(other.code, ""),
                interface="",
                specification="",
                tests=suite.files,
                examples=(),
                seed=best.change,
            )
            try:
                with progress_span(self.run.emit, "comparison of the patches"):
                    compared = await self.run.call_in_sandbox(work)
            except (SandboxError, *PARSE_ERRORS) as error:
                return f"inputs on which they differ were not searched for: {error or repr(error)}"
            if compared.differences:
                item = compared.differences[0]
                call = write_out_helpers(item.call, item.helpers).replace("\n", "; ")
                call = re.sub(rf"\b{MADE}(\w+)\(\)", r"\1", call)  # a fixture, by its own name
                now, then = f"{call} gives {item.code} with the first", f"{item.peer} with"
                return f"{now}, {then} {other.change}; no test covers it"
            problem = problem or compared.problem
        if problem:
            return f"not all answers could be compared: {problem}"
        return "no input was found on which they differ"

    async def _search(self) -> SearchResult:
        state, suite = self.state, self.state.tests
        base, result = state.candidates.current_tested
        default = (
            _SEARCH_SECONDS_WITHOUT_MODEL if self._is_search_only else _SEARCH_SECONDS_WITH_MODEL
        )

        def search(sandbox: Sandbox) -> SearchResult:
            # Stored by the thread, because a cancelled call loses its result.
            state.search = search_patches(
                sandbox,
                code=base.code,
                tests=suite.files,
                module=suite.module,
                run=result,
                expected=state.expected,
                seconds=self.request.search_s or default,
            )
            return state.search

        with state.measure_time("sandbox_s"), progress_span(self.run.emit, "search"):
            try:
                found = await self.run.call_in_sandbox(search)
            finally:
                if state.search:
                    self.run.emit(RepairSearchDone(state.search))
        self._patches = tuple({item.change: item for item in found.patches}.values())
        return found

    async def judge(self, dispute: Dispute) -> Judgement:
        """Return that the code is wrong: the user's tests are locked."""
        return Judgement(wrong="code", because=f"{dispute.test} is the user's own")

    async def request_repair(
        self, request: RepairRequest, *, from_the_original: bool = False
    ) -> Repair:
        return await ScriptToolkit(self.run.kit).heal_code(
            self.state.tests.module,
            request,
            lost=self.find_lost_features,
            hint=self._hint,
            from_the_original=from_the_original,
            change_requests=self.state.change_requests,
        )
