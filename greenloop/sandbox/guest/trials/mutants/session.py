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

from ...limits.proc_stats import address_space
from ..collected_session import Suite
from ..fork_messages import Bounds
from ..fork_pool import Forks, Result, Task
from ..line_tracing import calls_in, lines_in
from ..workspaces import Rooms, take_orphans
from .hot_swap import Living, Original
from .scheduler import Trying

Say = Callable[[dict[str, Any]], None]
Report = Callable[[int], None]


class Collected:
    """From the collection to the last mutant that a fork of this process can try."""

    def __init__(
        self, suite: Suite, original: Original, rooms: Rooms, forks: Forks, say: Say
    ) -> None:
        self._suite, self._original, self._rooms = suite, original, rooms
        self._forks, self._say = forks, say

    def try_all(self, splices: list[dict[str, Any]], together: bool) -> None:
        """Says `healthy` once, and of each mutant `started` and `mutant`, or `fresh`."""
        take_orphans()
        called: set[tuple[str, int]] = set()
        before = cpu_seconds()
        with calls_in(self._original.path, called):
            collected = self._suite.collect()
        if not collected:
            self._say({"event": "trouble", "what": "the tests cannot be collected"})
            return
        self._living = Living(self._original.path, called)
        gc.collect()
        gc.freeze()
        self._collect_s = cpu_seconds() - before
        if not self._measure():
            return
        living, lines = self._living, self._lines
        trying = Trying(self._suite, self._original, living, self._tests, lines, self._collect_s)
        trying.use(self._forks, self._rooms, self._say, together)
        if not trying.passing:
            return
        if trying.check():
            trying.try_all(splices)
        else:
            self._say({"event": "trouble", "what": "the tests do not pass twice on the code"})

    def _measure(self) -> bool:
        """The healthy run: outcome, cost and lines of each test."""
        path = f"{os.environ['TMPDIR']}/healthy.json"
        found: list[Result] = []
        task = Task(0, lambda report: self._write_healthy(path, report), _unbounded)
        self._forks.run([task], lambda task, result: found.append(result), clean=self._rooms.clean)
        try:
            with open(path, encoding="utf-8") as file:
                said = json.load(file)
        except (OSError, ValueError):
            what = f"the tests did not come to an end on the code itself ({found[0].ending})"
            self._say({"event": "trouble", "what": what})
            return False
        self._tests: list[dict[str, Any]] = said["tests"]
        self._rooms.peak_bytes = int(said["peak_bytes"])
        _load(said["loaded"])
        self._lines = [set(item.pop("lines")) for item in self._tests]
        self._say({"event": "healthy", "tests": self._tests, "collect_s": self._collect_s})
        return True

    def _write_healthy(self, path: str, report: Report) -> str:
        """In a fork."""
        tests: list[dict[str, Any]] = []
        for number, item in enumerate(self._suite.items):
            report(number)
            outcome: list[str] = []
            cpu, clock = cpu_seconds(), time.monotonic()
            lines = lines_in(
                self._original.path,
                lambda number=number, outcome=outcome: outcome.append(  # type: ignore[misc]
                    self._suite.outcome(number)
                ),
            )
            cost = {"cpu_s": cpu_seconds() - cpu, "wall_s": time.monotonic() - clock}
            tests.append({"id": item.nodeid, "outcome": outcome[0], **cost, "lines": sorted(lines)})
        with open(path, "w", encoding="utf-8") as file:
            loaded = [name for name in sys.modules if _is_known(name)]
            said = {"tests": tests, "peak_bytes": address_space("VmPeak"), "loaded": loaded}
            json.dump(said, file)
        return "healthy"


def _is_known(module: str) -> bool:
    return module.partition(".")[0] in (*sys.stdlib_module_names, "_pytest", "pluggy")


def _load(modules: list[str]) -> None:
    """What every test run loads anyway is loaded once, not in each fork."""
    for name in modules:
        if name not in sys.modules and _is_known(name):
            with suppress(Exception):
                importlib.import_module(name)


def _unbounded(step: int) -> Bounds:
    return Bounds(1e9, 1e9)


def cpu_seconds() -> float:
    """CPU seconds of this process and of its ended children."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))
