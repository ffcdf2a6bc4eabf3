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
from ..outcomes import LIVE_THREADS, SURVIVED
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
    tests, passes_again = _measure_baseline(context)
    if tests is None:
        return
    lines = [set(item.pop("lines")) for item in tests]
    context.send_event({"event": "healthy", "tests": tests, "collect_s": context.collect_s})
    scheduler = MutantScheduler(context, functions, tests, lines, use_batches)
    if not scheduler.passing_tests:
        return
    if passes_again or scheduler.check_baseline():
        scheduler.try_all(splices)
    else:
        context.report_trouble("the tests do not pass twice on the code")


def _measure_baseline(context: TrialContext) -> tuple[list[dict[str, Any]] | None, bool]:
    """Return outcome, cost and lines of each test on the original code, None without an end.

    All tests are run side by side with a trial of the original code; the second value says whether
    they passed there, too. Where either does not pass, they are measured alone, with pytest's hooks.
    """
    path = f"{os.environ['TMPDIR']}/healthy.json"

    def create_measurement(uses_hooks: bool) -> ForkTask:
        return ForkTask(
            0, lambda step: _write_baseline(context, path, step, uses_hooks), lambda _: NO_LIMITS
        )

    check = ForkTask(1, lambda step: _try_original(context, step), lambda _: NO_LIMITS)
    results = context.fork_pool.run_all([create_measurement(False), check])
    baseline = _read_baseline(path)
    passes_again = results[1].verdict == SURVIVED
    if not passes_again or _has_failure(baseline):
        results = context.fork_pool.run_all([create_measurement(True)])
        baseline, passes_again = _read_baseline(path), False
    if baseline is None:
        ending = results[0].ending
        context.report_trouble(f"the tests did not come to an end on the code itself ({ending})")
        return None, False
    context.workspaces.peak_bytes = int(baseline["peak_bytes"])
    _preload(baseline["loaded"])
    return baseline["tests"], passes_again


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
    return baseline is None or any(item["outcome"] == "failed" for item in baseline["tests"])


def _try_original(context: TrialContext, report_step: ReportStep) -> str:
    """In a fork: run all tests as in a trial."""
    numbers = range(len(context.session.items))
    return SURVIVED if context.session.run_until_failure(numbers, report_step) is None else "failed"


def _write_baseline(
    context: TrialContext, path: str, report_step: ReportStep, uses_hooks: bool
) -> str:
    """In a fork: write the baseline, and which modules the tests load, to a file."""
    tests: list[dict[str, Any]] = []
    for number, item in enumerate(context.session.items):
        report_step(number)
        test = {"id": item.nodeid, "outcome": ""}

        def run_test(number: int = number, test: dict[str, Any] = test) -> None:
            test["outcome"] = context.session.run_with_outcome(number, uses_hooks=uses_hooks)

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
