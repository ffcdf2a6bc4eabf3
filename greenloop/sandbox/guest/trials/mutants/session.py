"""The process that has collected the tests: it tries mutants in forks of itself.

Code of the module and of its tests has run here, so what this says is no more than a claim. It is
said as JSON lines to the process that started it, which has run none of it.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ...limits.proc_stats import read_address_space
from ..collected_session import CollectedSession
from ..fork_messages import StepLimits
from ..fork_pool import ForkPool, ForkResult, ForkTask
from ..line_tracing import record_calls, trace_lines
from ..workspaces import Workspaces, become_subreaper
from .hot_swap import LoadedFunctions, OriginalModule
from .scheduler import MutantScheduler

SendEvent = Callable[[dict[str, Any]], None]
ReportStep = Callable[[int], None]


class MutantSession:
    """From the collection to the last mutant that a fork of this process can try."""

    def __init__(
        self,
        session: CollectedSession,
        original: OriginalModule,
        workspaces: Workspaces,
        fork_pool: ForkPool,
        send_event: SendEvent,
    ) -> None:
        self._session, self._original, self._workspaces = session, original, workspaces
        self._fork_pool, self._send_event = fork_pool, send_event

    def try_all(self, splices: list[dict[str, Any]], use_batches: bool) -> None:
        """Says `healthy` once, and of each mutant `started` and `mutant`, or `fresh`."""
        become_subreaper()
        called: set[tuple[str, int]] = set()
        before = own_cpu_seconds()
        with record_calls(self._original.path, called):
            collected = self._session.collect()
        if not collected:
            self._send_event({"event": "trouble", "what": "the tests cannot be collected"})
            return
        self._loaded_functions = LoadedFunctions(self._original.path, called)
        gc.collect()
        gc.freeze()
        self._collect_s = own_cpu_seconds() - before
        if not self._measure_baseline():
            return
        living, lines = self._loaded_functions, self._lines
        trying = MutantScheduler(
            self._session, self._original, living, self._tests, lines, self._collect_s
        )
        trying.configure(self._fork_pool, self._workspaces, self._send_event, use_batches)
        if not trying.passing_tests:
            return
        if trying.check_baseline():
            trying.try_all(splices)
        else:
            self._send_event(
                {"event": "trouble", "what": "the tests do not pass twice on the code"}
            )

    def _measure_baseline(self) -> bool:
        """The healthy run: outcome, cost and lines of each test."""
        path = f"{os.environ['TMPDIR']}/healthy.json"
        found: list[ForkResult] = []
        task = ForkTask(0, lambda report: self._write_baseline(path, report), _without_limits)
        self._fork_pool.run(
            [task], lambda task, result: found.append(result), clean_slot=self._workspaces.clean
        )
        try:
            with open(path, encoding="utf-8") as file:
                said = json.load(file)
        except (OSError, ValueError):
            what = f"the tests did not come to an end on the code itself ({found[0].ending})"
            self._send_event({"event": "trouble", "what": what})
            return False
        self._tests: list[dict[str, Any]] = said["tests"]
        self._workspaces.peak_bytes = int(said["peak_bytes"])
        _preload(said["loaded"])
        self._lines = [set(item.pop("lines")) for item in self._tests]
        self._send_event({"event": "healthy", "tests": self._tests, "collect_s": self._collect_s})
        return True

    def _write_baseline(self, path: str, report_step: ReportStep) -> str:
        """In a fork."""
        tests: list[dict[str, Any]] = []
        for number, item in enumerate(self._session.items):
            report_step(number)
            outcome: list[str] = []
            cpu, clock = own_cpu_seconds(), time.monotonic()
            lines = trace_lines(
                self._original.path,
                lambda number=number, outcome=outcome: outcome.append(  # type: ignore[misc]
                    self._session.run_with_outcome(number)
                ),
            )
            cost = {"cpu_s": own_cpu_seconds() - cpu, "wall_s": time.monotonic() - clock}
            tests.append({"id": item.nodeid, "outcome": outcome[0], **cost, "lines": sorted(lines)})
        with open(path, "w", encoding="utf-8") as file:
            loaded = [name for name in sys.modules if _is_preloadable(name)]
            said = {"tests": tests, "peak_bytes": read_address_space("VmPeak"), "loaded": loaded}
            json.dump(said, file)
        return "healthy"


def _is_preloadable(module: str) -> bool:
    return module.partition(".")[0] in (*sys.stdlib_module_names, "_pytest", "pluggy")


def _preload(modules: list[str]) -> None:
    """What every test run loads anyway is loaded once, not in each fork."""
    for name in modules:
        if name not in sys.modules and _is_preloadable(name):
            with suppress(Exception):
                importlib.import_module(name)


def _without_limits(step: int) -> StepLimits:
    return StepLimits(1e9, 1e9)


def own_cpu_seconds() -> float:
    """CPU seconds of this process and of its ended children."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))
