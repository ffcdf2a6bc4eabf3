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

from .busy import address_space
from .forks import Bounds, Forks, Result, Task
from .rooms import Rooms, take_orphans
from .spliced import Living, Original
from .suite_in_hand import Suite
from .tracing import calls_in, lines_in

_CPU_FLOOR_S, _CPU_TIMES, _IDLE_FLOOR_S, _IDLE_TIMES = 0.3, 10, 1.0, 5
_COLLECT_FLOOR_S = 1.0
QUICK_S = 0.05  # a test is quick or it is not: a finer order would not be the same each time
COLLECTION = -1
Say = Callable[[dict[str, Any]], None]
Report = Callable[[int], None]


class Collected:
    """From the collection to the last mutant that a fork of this process can try."""

    def __init__(
        self, suite: Suite, original: Original, rooms: Rooms, forks: Forks, say: Say
    ) -> None:
        self._suite, self._original, self._rooms = suite, original, rooms
        self._forks, self._say = forks, say

    def try_all(self, splices: list[dict[str, Any]]) -> None:
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
        if self._measure() and self._check():
            self._try(splices)

    def _measure(self) -> bool:
        """The healthy run: outcome, cost and lines of each test."""
        path = f"{os.environ['TMPDIR']}/healthy.json"
        found: list[Result] = []
        task = Task(0, lambda report: self._write_healthy(path, report), _unbounded)
        self._run([task], lambda task, result: found.append(result))
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
        self._passing = [n for n, item in enumerate(self._tests) if item["outcome"] == "passed"]
        self._say({"event": "healthy", "tests": self._tests, "collect_s": self._collect_s})
        return bool(self._passing)

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

    def _check(self) -> bool:
        """Whether the tests pass as mutants will meet them, and which only pass after others."""
        alone = self._failing({number: [number] for number in self._passing})
        again = [number for number in alone if self._suite.use_hooks(number)]
        still = self._failing({number: [number] for number in again})
        self._dependent = (set(alone) - set(again)) | set(still)
        together = len(self._tests)
        if not self._failing({together: self._passing}):
            return True
        self._say({"event": "trouble", "what": "the tests do not pass twice on the code"})
        return False

    def _failing(self, choices: dict[int, list[int]]) -> list[int]:
        """Which of these choices of tests do not pass on the code itself."""
        failing: list[int] = []

        def hear(task: Task, result: Result) -> None:
            if result.verdict != SURVIVED:
                failing.append(task.number)

        self._run([self._task(number, chosen, None) for number, chosen in choices.items()], hear)
        return sorted(failing)

    def _try(self, splices: list[dict[str, Any]]) -> None:
        tasks = []
        for splice in splices:
            number, chosen = splice["number"], self._chosen(splice["lines"])
            if chosen:
                tasks.append(self._task(number, chosen, splice))
            elif self._original.changed(splice) is None:
                self._say({"event": "fresh", "mutant": number})
            else:
                self._say({"event": "mutant", "mutant": number, "outcome": "uncovered"})
        self._run(tasks, self._hear, lambda task: self._say(started(task)))

    def _chosen(self, lines: list[int]) -> list[int]:
        """The tests that reach one of these lines, quick ones first.

        Where one of them only passes after others: in the file's order, with all that come before.
        """
        reached = set(range(lines[0], lines[1] + 1))
        chosen = [number for number in self._passing if self._lines[number] & reached]
        if self._dependent.intersection(chosen):
            return [number for number in self._passing if number <= chosen[-1]]
        return sorted(chosen, key=lambda number: (self._tests[number]["cpu_s"] > QUICK_S, number))

    def _task(self, number: int, chosen: list[int], splice: dict[str, Any] | None) -> Task:
        def work(report: Report) -> str:
            if splice and not self._living.replace(self._original.changed(splice)):
                return AGAIN
            failing = self._suite.first_failing(chosen, report)
            return SURVIVED if failing is None else killed(self._tests[failing]["id"])

        return Task(number, work, self._bounds)

    def _bounds(self, step: int) -> Bounds:
        return bounds(self._tests, self._collect_s, step)

    def _hear(self, task: Task, result: Result) -> None:
        if result.verdict == AGAIN:
            self._say({"event": "fresh", "mutant": task.number})
        else:
            self._say(event_of(task, result, self._tests))

    def _run(
        self,
        tasks: list[Task],
        done: Callable[[Task, Result], None],
        begin: Callable[[Task], None] = lambda task: None,
    ) -> None:
        self._forks.run(tasks, done, begin, self._rooms.clean)


SURVIVED, AGAIN, _KILLED = "survived", "again", "killed "


def killed(test: str) -> str:
    """The verdict of a test that failed."""
    return _KILLED + json.dumps(test)


def bounds(tests: list[dict[str, Any]], collect_s: float, step: int) -> Bounds:
    """What a mutant may use for one test (or to be collected), from what the code itself used."""
    if not 0 <= step < len(tests):
        return Bounds(_COLLECT_FLOOR_S + _CPU_TIMES * collect_s, _COLLECT_FLOOR_S + 10)
    cpu_s, wall_s = tests[step]["cpu_s"], tests[step]["wall_s"]
    return Bounds(_CPU_FLOOR_S + _CPU_TIMES * cpu_s, _IDLE_FLOOR_S + _IDLE_TIMES * wall_s)


def started(task: Task) -> dict[str, Any]:
    return {"event": "started", "mutant": task.number}


def event_of(task: Task, result: Result, tests: list[dict[str, Any]]) -> dict[str, Any]:
    """A mutant's end in plain values."""
    event: dict[str, Any] = {"event": "mutant", "mutant": task.number, "outcome": result.ending}
    if result.ending in ("timeout", "crashed"):
        inside = 0 <= result.step < len(tests)
        event["test"] = tests[result.step]["id"] if inside else "collection"
        event["status"] = result.status
    if result.ending == "verdict":
        event["outcome"] = "killed" if result.verdict.startswith(_KILLED) else result.verdict
        if event["outcome"] == "killed":
            event["test"] = json.loads(result.verdict[len(_KILLED) :])
    return event


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
