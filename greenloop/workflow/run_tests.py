"""Running a candidate, with the packages that it is found to need."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Iterable

from greenloop.events import EventSink
from greenloop.events.progress import progress_span
from greenloop.records import Expectation, TestRun
from greenloop.testsuite import Suite
from greenloop.tools.toolkit import Toolkit
from greenloop.workflow.setup.packages import (
    annotate_missing_modules,
    install_imported_packages,
    install_missing_packages,
    local_module_names,
    with_installed_packages,
)
from greenloop.workflow.state import RunState


async def run_suite(
    kit: Toolkit,
    state: RunState,
    emit: EventSink,
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
        with progress_span(emit, name):
            fit = with_installed_packages(kit, state)
            return await fit.run_tests(code, suite.files, suite.module, expected, brief=brief)

    return await run_with_packages(kit, state, emit, once, sources, local_module_names(suite))


async def run_with_packages(
    kit: Toolkit,
    state: RunState,
    emit: EventSink,
    run_once: Callable[[], Awaitable[TestRun]],
    sources: Iterable[str],
    local_names: Collection[str],
) -> TestRun:
    """Runs `once`, and again for each allowed package that it turned out to miss.

    `sources` are read for imports; `own` are modules that are no packages.
    """
    await install_imported_packages(kit, state, emit, sources, local_names)
    run = await _time_run(state, run_once)
    while await install_missing_packages(kit, state, emit, run, local_names):
        run = await _time_run(state, run_once)
    return annotate_missing_modules(kit, state, emit, run, local_names)


async def _time_run(state: RunState, run_once: Callable[[], Awaitable[TestRun]]) -> TestRun:
    started = time.monotonic()
    try:
        return await run_once()
    finally:
        state.sandbox_s += time.monotonic() - started
