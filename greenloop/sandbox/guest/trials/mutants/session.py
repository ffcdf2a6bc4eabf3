"""Trials of a job's mutants in forks of the process that has collected the tests."""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ...limits.proc_stats import read_address_space
from ...protocol.reasons import LIVE_THREADS
from ..collected_session import FAILED
from ..context import ReportStep, TrialContext
from ..fork_pool import ForkTask
from ..listening import ListeningSockets
from ..outcomes import SURVIVED
from ..time_limits import NO_LIMITS
from ..workspaces import OutsideUse
from .scheduler import MutantScheduler


def try_mutants(context: TrialContext, splices: list[dict[str, Any]], use_batches: bool) -> None:
    """Send `healthy` once, and for each mutant `started` and `mutant`, or `fresh`."""
    functions = context.collect()
    if functions is None:
        context.report_trouble("the tests cannot be collected")
        return
    if threading.active_count() > 1:
        context.report_trouble(LIVE_THREADS)
        return
    tests, passes_again = _measure_baseline(context)
    if tests is None:
        return
    lines = [set(item.pop("lines")) for item in tests]
    width = context.fork_pool.max_forks
    healthy = {"tests": tests, "collect_s": context.collect_s, "width": width}
    context.send_event({"event": "healthy", **healthy})
    scheduler = MutantScheduler(context, functions, tests, lines, use_batches)
    if not scheduler.passing_tests:
        return
    if passes_again or scheduler.check_baseline():
        scheduler.try_all(splices)
    else:
        context.report_trouble("the tests do not pass twice on the code")


def _measure_baseline(context: TrialContext) -> tuple[list[dict[str, Any]] | None, bool]:
    """Return outcome, cost and lines of each test on the original code, None without an end.

    The second value is False if they have yet to pass again under the conditions of a trial. Where
    all can be repeated, they need not: what fails on a mutant is confirmed. They are measured in
    parts, side by side; all others beside a trial of the original. Where anything fails, all are
    measured once more, alone and with pytest's hooks. How many trials run side by side follows from
    what they wait for and use.
    """
    numbers, width = range(len(context.session.items)), context.fork_pool.max_forks
    is_repeatable = context.session.can_repeat(numbers)
    size = -(-len(numbers) // width) if is_repeatable else len(numbers)
    parts = [numbers[start : start + size] for start in numbers[::size]]
    checks = [] if is_repeatable else [_create_check(context, len(parts))]
    sockets = ListeningSockets()
    baselines, endings = _measure_parts(context, parts, sockets, checks)
    passes_again = all(item == SURVIVED for item in endings[len(parts) :])
    if not passes_again or any(map(_has_failure, baselines)):
        baselines, endings = _measure_parts(context, [numbers], sockets, uses_hooks=True)
        passes_again = False
    found = [item for item in baselines if item is not None]
    if len(found) < len(baselines):
        why = f"the tests did not come to an end on the code itself ({endings[0]})"
        context.report_trouble(why)
        return None, False
    context.workspaces.peak_bytes = max(int(item["peak_bytes"]) for item in found)
    _preload([name for item in found for name in item["loaded"]])
    tests = [test for item in found for test in item["tests"]]
    context.set_width(tests, is_alone=any(map(sockets.shares, found)))
    return tests, passes_again


def _measure_parts(
    context: TrialContext,
    parts: Sequence[Sequence[int]],
    sockets: ListeningSockets,
    others: Sequence[ForkTask] = (),
    *,
    uses_hooks: bool = False,
) -> tuple[list[dict[str, Any] | None], list[str]]:
    """Return what was measured of each part of the tests, and the verdict or ending of each task."""
    paths = [f"{os.environ['TMPDIR']}/healthy-{number}.json" for number in range(len(parts))]

    def create_task(number: int) -> ForkTask:
        def work(report_step: ReportStep) -> str:
            return _write_baseline(context, parts[number], paths[number], report_step, uses_hooks)

        return ForkTask(number, work, lambda _: NO_LIMITS)

    tasks = [*map(create_task, range(len(parts))), *others]
    results = context.fork_pool.run_all(tasks, sockets.look)
    endings = [item.verdict or item.ending for _, item in sorted(results.items())]
    return list(map(_read_baseline, paths)), endings


def _read_baseline(path: str) -> dict[str, Any] | None:
    """Read and remove what was measured; None where nothing was."""
    try:
        with open(path, encoding="utf-8") as file:
            baseline: dict[str, Any] = json.load(file)
        os.unlink(path)
    except (OSError, ValueError):
        return None
    return baseline


def _has_failure(baseline: dict[str, Any] | None) -> bool:
    return baseline is None or any(item["outcome"] == FAILED for item in baseline["tests"])


def _create_check(context: TrialContext, number: int) -> ForkTask:
    """Create the task that runs all tests as in a trial."""

    def work(report_step: ReportStep) -> str:
        numbers = range(len(context.session.items))
        is_failed = context.session.run_until_failure(numbers, report_step) is not None
        return FAILED if is_failed else SURVIVED

    return ForkTask(number, work, lambda _: NO_LIMITS)


def _write_baseline(
    context: TrialContext,
    numbers: Sequence[int],
    path: str,
    report_step: ReportStep,
    uses_hooks: bool,
) -> str:
    """In a fork: write the baseline of some tests, and which modules they load, to a file."""
    tests: list[dict[str, Any]] = []
    outside = OutsideUse()
    outside.watch()
    for number in numbers:
        report_step(number)
        test = {"id": context.session.items[number].nodeid, "outcome": ""}

        def run_test(number: int = number, test: dict[str, Any] = test) -> None:
            test["outcome"] = context.session.run_with_outcome(number, uses_hooks=uses_hooks)

        measured = context.measure(run_test)
        tests.append({**test, **measured})
    whole = {
        "peak_bytes": read_address_space("VmPeak"),
        "loaded": [name for name in sys.modules if _is_preloadable(name)],
        **outside.describe(),
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"tests": tests, **whole}, file)
    return "healthy"


def _is_preloadable(module: str) -> bool:
    name = module.partition(".")[0]
    return name in sys.stdlib_module_names or name in ("_pytest", "pluggy")


def _preload(modules: list[str]) -> None:
    """Import what every test run imports, once instead of in each fork."""
    for name in modules:
        if name not in sys.modules and _is_preloadable(name):
            with suppress(Exception):
                importlib.import_module(name)
