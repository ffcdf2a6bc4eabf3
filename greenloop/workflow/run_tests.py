"""Running a candidate, with the packages that it is found to need."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Iterable

from greenloop.events import Emit
from greenloop.events.progress import at_work
from greenloop.records import Expectation, TestRun
from greenloop.testsuite import Suite
from greenloop.tools.toolkit import Toolkit
from greenloop.workflow.setup.packages import (
    explained,
    fitted,
    own_modules,
    provide_imported,
    provide_missed,
)
from greenloop.workflow.state import RunState


async def run_suite(
    kit: Toolkit,
    state: RunState,
    emit: Emit,
    code: str,
    suite: Suite,
    expected: Expectation | None,
    name: str = "tests",
    *,
    brief: bool = False,
) -> TestRun:
    """One run of a suite on a module, its seconds entered; told of under a name."""
    sources = [code, *(item.code for item in suite.files)]

    async def once() -> TestRun:
        with at_work(emit, name):
            fit = fitted(kit, state)
            return await fit.run_tests(code, suite.files, suite.module, expected, brief=brief)

    return await run_with_packages(kit, state, emit, once, sources, own_modules(suite))


async def run_with_packages(
    kit: Toolkit,
    state: RunState,
    emit: Emit,
    once: Callable[[], Awaitable[TestRun]],
    sources: Iterable[str],
    own: Collection[str],
) -> TestRun:
    """Runs `once`, and again for each allowed package that it turned out to miss.

    `sources` are read for imports; `own` are modules that are no packages.
    """
    await provide_imported(kit, state, emit, sources, own)
    run = await _timed(state, once)
    while await provide_missed(kit, state, emit, run, own):
        run = await _timed(state, once)
    return explained(kit, state, emit, run, own)


async def _timed(state: RunState, once: Callable[[], Awaitable[TestRun]]) -> TestRun:
    started = time.monotonic()
    try:
        return await once()
    finally:
        state.sandbox_s += time.monotonic() - started
