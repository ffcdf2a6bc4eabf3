"""Trials of a job's mutants in forks of the process that has collected the tests."""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from contextlib import suppress
from typing import Any

from ...limits.proc_stats import read_address_space
from ..context import ReportStep, TrialContext
from ..fork_pool import ForkTask
from ..outcomes import LIVE_THREADS
from ..time_limits import NO_LIMITS
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
    tests = _measure_baseline(context)
    if tests is None:
        return
    lines = [set(item.pop("lines")) for item in tests]
    context.send_event({"event": "healthy", "tests": tests, "collect_s": context.collect_s})
    scheduler = MutantScheduler(context, functions, tests, lines, use_batches)
    if not scheduler.passing_tests:
        return
    if scheduler.check_baseline():
        scheduler.try_all(splices)
    else:
        context.report_trouble("the tests do not pass twice on the code")


def _measure_baseline(context: TrialContext) -> list[dict[str, Any]] | None:
    """Return outcome, cost and lines of each test on the original code."""
    path = f"{os.environ['TMPDIR']}/healthy.json"
    task = ForkTask(0, lambda step: _write_baseline(context, path, step), lambda _: NO_LIMITS)
    result = context.fork_pool.run_one(task)
    try:
        with open(path, encoding="utf-8") as file:
            baseline = json.load(file)
    except (OSError, ValueError):
        context.report_trouble(
            f"the tests did not come to an end on the code itself ({result.ending})"
        )
        return None
    context.workspaces.peak_bytes = int(baseline["peak_bytes"])
    _preload(baseline["loaded"])
    tests: list[dict[str, Any]] = baseline["tests"]
    return tests


def _write_baseline(context: TrialContext, path: str, report_step: ReportStep) -> str:
    """In a fork: write the baseline, and which modules the tests load, to a file."""
    tests: list[dict[str, Any]] = []
    for number, item in enumerate(context.session.items):
        report_step(number)
        test = {"id": item.nodeid, "outcome": ""}

        def run_test(number: int = number, test: dict[str, Any] = test) -> None:
            test["outcome"] = context.session.run_with_outcome(number)

        measured = context.measure(run_test)
        tests.append({**test, **measured})
    with open(path, "w", encoding="utf-8") as file:
        loaded = [name for name in sys.modules if _is_preloadable(name)]
        peak = read_address_space("VmPeak")
        json.dump({"tests": tests, "peak_bytes": peak, "loaded": loaded}, file)
    return "healthy"


def _is_preloadable(module: str) -> bool:
    return module.partition(".")[0] in (*sys.stdlib_module_names, "_pytest", "pluggy")


def _preload(modules: list[str]) -> None:
    """Import what every test run imports, once instead of in each fork."""
    for name in modules:
        if name not in sys.modules and _is_preloadable(name):
            with suppress(Exception):
                importlib.import_module(name)
