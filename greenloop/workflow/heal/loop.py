"""A module that exists is repaired until its owner's tests pass; a search may find how for nothing."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from greenloop.errors import InputError
from greenloop.events import Emit, Searched
from greenloop.events.progress import at_work
from greenloop.llm.client import Asker
from greenloop.project.snapshot import snapshot
from greenloop.records import Expectation, Search, TestRun
from greenloop.repair import search
from greenloop.sandbox.asyncio_bridge import in_sandbox
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.testsuite import Suite
from greenloop.testsuite.stubs import hollow
from greenloop.tools.toolkit import Toolkit
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.grade_code import is_green
from greenloop.workflow.heal.change_requests import Wishes
from greenloop.workflow.heal.strategy import HealCraft
from greenloop.workflow.repair_code import Improver, tell_of_health
from greenloop.workflow.run_tests import run_suite
from greenloop.workflow.setup.packages import fitted
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.request import ProjectRequest

_BEFORE_A_CALL_S, _WITHOUT_A_MODEL_S = 2.0, 60.0
_GUIDED = "found by search with these tests alone as its guide: they cannot vouch for it"


async def heal_way(
    kit: Toolkit, asker: Asker, state: RunState, emit: Emit, repairs: int, *, alone: bool
) -> None:
    """The way of a module that is healed; `alone`: no model is asked, the search is all there is.

    Raises:
        InputError: the project cannot be read any more.
        GreenloopError: a call or the sandbox failed.
    """
    request = state.request
    assert request.original is not None
    if request.project:
        kit = replace(kit, sandbox=_in_project(kit, request.project))
    suite = _suite(state)
    state.suite = suite
    state.expected = await _expected(kit, state, emit, request.original.text)
    state.history.enter(Candidate(request.original.text, "generate", "the module as it was"))
    craft = HealCraft(kit, state, emit, original=request.original)
    improver = Improver(craft, asker, state, emit, repairs)
    healer = Healer(kit, craft, emit, improver.improve, alone=alone)
    green = partial(is_green, kit, craft, state, emit)
    while not await green():
        if not await healer.improve():
            return
    tell_of_health(state, emit)
    if not alone:
        more = partial(Improver, craft, asker, state, emit)
        await Wishes(craft, more, green, state, emit, repairs).grant()


@dataclass
class Healer:
    """Searches once, before the first repair that is paid for; without a model, that is all."""

    kit: Toolkit
    craft: HealCraft
    emit: Emit
    paid: Callable[[], Awaitable[bool]]
    alone: bool
    searched: bool = False

    async def improve(self) -> bool:
        """One step; False where nothing is left to try. Raises GreenloopError."""
        state = self.craft.state
        if not self.searched:
            self.searched = True
            found = await self._search()
            state.search = found
            self.emit(Searched(found))
            if self.alone and found.patches:
                best = found.patches[0]
                state.history.enter(Candidate(best.code, "free-fix", best.change))
                state.notes.append(_GUIDED)
                return True
            self.craft.hints.extend(item.diff for item in found.patches[:1])
        return False if self.alone else await self.paid()

    async def _search(self) -> Search:
        state = self.craft.state
        base = state.history.base
        assert base is not None
        assert base.run is not None
        seconds = state.request.search_s or (_WITHOUT_A_MODEL_S if self.alone else _BEFORE_A_CALL_S)
        box, suite = fitted(self.kit, state).sandbox, state.tests
        work = partial(
            search,
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
            with at_work(self.emit, "search"):
                return await in_sandbox(box, work)
        finally:
            state.sandbox_s += time.monotonic() - started


def _in_project(kit: Toolkit, project: ProjectRequest) -> ProjectSandbox:
    read = snapshot(Path(project.root)).model_copy(update={"targets": project.targets})
    return ProjectSandbox(kit.sandbox, read, project.path)


def _suite(state: RunState) -> Suite:
    """The person's tests, all locked. Raises InputError where one has changed since."""
    request = state.request
    return Suite(
        module=request.module or "",
        given=tuple(item.as_file() for item in request.given),
        path=request.project.path if request.project else "",
    )


async def _expected(kit: Toolkit, state: RunState, emit: Emit, original: str) -> Expectation | None:
    """The tests that have to report: those that do on the module with its functions hollowed out.

    None where that cannot be told beforehand: the module does not parse, or its tests need more
    than its names to be collected.
    """
    try:
        source = hollow(original)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    run = await run_suite(kit, state, emit, source, state.tests, None)
    if run.ending != "finished" or any(item.phase == "collect" for item in run.failures):
        return None
    if not run.tests:
        raise InputError("no tests were collected from --tests")
    return Expectation(ids=frozenset(item.id for item in run.tests), tolerated=_skipping(run))


def _skipping(run: TestRun) -> frozenset[str]:
    return frozenset(item.id for item in run.tests if item.outcome in ("skipped", "xfailed"))
