"""A module that exists is repaired until its owner's tests pass; a search may find how for nothing."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from greenloop.errors import InputError
from greenloop.events import EventSink, RepairSearchDone
from greenloop.events.progress import progress_span
from greenloop.llm.client import LLMClient
from greenloop.project.snapshot import take_snapshot
from greenloop.records import Expectation, SearchResult, TestRun
from greenloop.repair import search_patches
from greenloop.sandbox.asyncio_bridge import run_in_sandbox_thread
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.testsuite import Suite
from greenloop.testsuite.stubs import with_empty_bodies
from greenloop.tools.toolkit import Toolkit
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.grade_code import run_and_grade
from greenloop.workflow.heal.change_requests import ChangeRequests
from greenloop.workflow.heal.strategy import HealStrategy
from greenloop.workflow.repair_code import RepairStep, notify_already_healthy
from greenloop.workflow.run_tests import run_suite
from greenloop.workflow.setup.packages import with_installed_packages
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.request import ProjectRequest

_SEARCH_SECONDS_WITH_MODEL, _SEARCH_SECONDS_WITHOUT_MODEL = 2.0, 60.0
_SEARCH_ONLY_NOTE = "found by search with these tests alone as its guide: they cannot vouch for it"


async def run_heal_workflow(
    kit: Toolkit,
    client: LLMClient,
    state: RunState,
    emit: EventSink,
    max_repairs: int,
    *,
    search_only: bool,
) -> None:
    """The way of a module that is healed; `alone`: no model is asked, the search is all there is.

    Raises:
        InputError: the project cannot be read any more.
        GreenloopError: a call or the sandbox failed.
    """
    request = state.request
    assert request.original is not None
    if request.project:
        kit = replace(kit, sandbox=_open_project_sandbox(kit, request.project))
    suite = _build_suite(state)
    state.suite = suite
    state.expected = await _collect_expectation(kit, state, emit, request.original.text)
    state.candidates.add(Candidate(request.original.text, "generate", "the module as it was"))
    craft = HealStrategy(kit, state, emit, original=request.original)
    improver = RepairStep(craft, client, state, emit, max_repairs)
    healer = HealStep(kit, craft, emit, improver.advance, search_only=search_only)
    green = partial(run_and_grade, kit, craft, state, emit)
    while not await green():
        if not await healer.advance():
            return
    notify_already_healthy(state, emit)
    if not search_only:
        more = partial(RepairStep, craft, client, state, emit)
        await ChangeRequests(craft, more, green, state, emit, max_repairs).apply()


@dataclass
class HealStep:
    """Searches once, before the first repair that is paid for; without a model, that is all."""

    kit: Toolkit
    strategy: HealStrategy
    emit: EventSink
    repair_with_model: Callable[[], Awaitable[bool]]
    search_only: bool
    has_searched: bool = False

    async def advance(self) -> bool:
        """One step; False where nothing is left to try. Raises GreenloopError."""
        state = self.strategy.state
        if not self.has_searched:
            self.has_searched = True
            found = await self._search()
            state.search = found
            self.emit(RepairSearchDone(found))
            if self.search_only and found.patches:
                best = found.patches[0]
                state.candidates.add(Candidate(best.code, "free-fix", best.change))
                state.notes.append(_SEARCH_ONLY_NOTE)
                return True
            self.strategy.hints.extend(item.diff for item in found.patches[:1])
        return False if self.search_only else await self.repair_with_model()

    async def _search(self) -> SearchResult:
        state = self.strategy.state
        base = state.candidates.base
        assert base is not None
        assert base.run is not None
        seconds = state.request.search_s or (
            _SEARCH_SECONDS_WITHOUT_MODEL if self.search_only else _SEARCH_SECONDS_WITH_MODEL
        )
        box, suite = with_installed_packages(self.kit, state).sandbox, state.tests
        work = partial(
            search_patches,
            box,
            base.code,
            suite.files,
            suite.module,
            run=base.run,
            expected=state.expected,
            seconds=seconds,
        )
        started = time.monotonic()
        try:
            with progress_span(self.emit, "search"):
                return await run_in_sandbox_thread(box, work)
        finally:
            state.sandbox_s += time.monotonic() - started


def _open_project_sandbox(kit: Toolkit, project: ProjectRequest) -> ProjectSandbox:
    read = take_snapshot(Path(project.root)).model_copy(update={"targets": project.targets})
    return ProjectSandbox(kit.sandbox, read, project.path)


def _build_suite(state: RunState) -> Suite:
    """The person's tests, all locked. Raises InputError where one has changed since."""
    request = state.request
    return Suite(
        module=request.module or "",
        user_files=tuple(item.as_test_file() for item in request.given),
        path=request.project.path if request.project else "",
    )


async def _collect_expectation(
    kit: Toolkit, state: RunState, emit: EventSink, original: str
) -> Expectation | None:
    """The tests that have to report: those that do on the module with its functions hollowed out.

    None where that cannot be told beforehand: the module does not parse, or its tests need more
    than its names to be collected.
    """
    try:
        source = with_empty_bodies(original)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    run = await run_suite(kit, state, emit, source, state.tests, None)
    if run.ending != "finished" or any(item.phase == "collect" for item in run.failures):
        return None
    if not run.tests:
        raise InputError("no tests were collected from --tests")
    return Expectation(
        ids=frozenset(item.id for item in run.tests), tolerated=_find_skipped_tests(run)
    )


def _find_skipped_tests(run: TestRun) -> frozenset[str]:
    return frozenset(item.id for item in run.tests if item.outcome in ("skipped", "xfailed"))
