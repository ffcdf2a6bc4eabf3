"""Test runs of a candidate, with the packages that it needs."""

from collections.abc import Awaitable, Callable, Collection, Iterable
from pathlib import Path

from greenloop.events.progress import progress_span
from greenloop.records import Expectation, TestRun
from greenloop.testsuite import Suite
from greenloop.workflow.setup.packages import (
    annotate_missing_modules,
    install_missing_packages,
    try_packages,
)
from greenloop.workflow.state import Run


async def run_suite(
    run: Run,
    code: str,
    suite: Suite,
    expected: Expectation | None = None,
    *,
    name: str = "tests",
    plain_asserts: bool = False,
) -> TestRun:
    """Run a suite on a module; `name` is shown as progress. Raises SandboxError."""
    sources = [code, *(item.code for item in suite.files)]
    own = run.state.packages.own
    local_names = {suite.module, *own, *(Path(item.name).stem for item in suite.files)}

    async def run_once() -> TestRun:
        with progress_span(run.emit, name):
            return await run.call_in_sandbox(
                lambda sandbox: sandbox.run_tests(
                    code,
                    suite.files,
                    module=suite.module,
                    expected=expected,
                    plain_asserts=plain_asserts,
                )
            )

    return await run_with_packages(run, run_once, sources, local_names)


async def run_with_packages(
    run: Run,
    run_once: Callable[[], Awaitable[TestRun]],
    sources: Iterable[str],
    local_names: Collection[str],
) -> TestRun:
    """Call `run_once`, and again as long as a missing package can be installed.

    `sources` are read for imports. `local_names` are modules that are not packages.
    """
    packages = run.kit.packages  # imported ones are installed: cheaper than another model call
    imported = packages.find_imported(sources, local_names)
    await try_packages(run.state, packages, imported, run.emit)
    is_complete = False
    while not is_complete:
        with run.state.measure_time("sandbox_s"):
            result = await run_once()
        is_complete = not await install_missing_packages(run, result, local_names)
    return annotate_missing_modules(run, result, local_names)
