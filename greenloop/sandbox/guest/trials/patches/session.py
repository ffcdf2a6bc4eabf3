"""The process that has collected the tests of a red module: it tries patches in forks of itself.

A patch is first tried on a few failing tests, many in one fork: nearly all of them end there. The
others are tried on all tests in a fork of their own. What is said here is a claim.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..baseline import Reaching
from ..collected_session import Suite
from ..fork_messages import Bounds
from ..fork_pool import Forks, Result, Task
from ..line_tracing import calls_in
from ..mutants.hot_swap import Living, Original
from ..mutants.outcomes import SURVIVED, bounds, killed
from ..mutants.session import Report, Say
from ..time_limit import Alarm
from ..workspaces import Rooms, take_orphans
from .screening import BEGUN, PASSED, SLOW, UNTRIED, Changing, Notes, Screen

_BATCH, _MOST_SCREENING, _MOST_SLOW = 30, 5, 40
_FLOOR_S, _TIMES, _IDLE_S = 0.015, 2, 2.0
_STILL_RED = "still red"


class Patched:
    """From the collection to the last patch."""

    def __init__(
        self,
        suite: Suite,
        original: Original,
        rooms: Rooms,
        forks: Forks,
        say: Say,
        module: str,
    ) -> None:
        self._suite, self._original, self._rooms = suite, original, rooms
        self._forks, self._say, self._module = forks, say, module

    def collect(self) -> bool:
        """Whether the tests can be collected; says so where they cannot."""
        take_orphans()
        called: set[tuple[str, int]] = set()
        started = time.process_time()
        try:
            with Alarm(5), calls_in(self._original.path, called):
                collected = self._suite.collect()
        except Exception:
            collected = False
        if not collected:
            self._say({"event": "trouble", "what": "the tests cannot be collected"})
            return False
        self._collect_s = time.process_time() - started
        living = Living(self._original.path, called)
        try:
            self._changing = Changing(self._module, self._original, living)
        except KeyError:
            self._say({"event": "trouble", "what": "the tests do not import the module"})
            return False
        gc.collect()
        gc.freeze()
        return True

    def measure(self, most_s: float) -> None:
        """Says of each test what it does, in at most so many CPU seconds each."""
        path = self._original.path
        Reaching(self._suite, path, self._rooms, self._forks, most_s).tell(self._say)

    def try_all(self, job: dict[str, Any], jobs: int) -> None:
        """The job's splices in their order. Says `passes` of some, and `tried` now and then.

        It ends when `enough` of them pass, or when all that are left are more than `margin` worse
        than the best of those.
        """
        self._tests, splices = job["tests"], job["splices"]
        if [item["id"] for item in self._tests] != [item.nodeid for item in self._suite.items]:
            self._say({"event": "trouble", "what": "other tests were collected"})
            return
        self._rooms.peak_bytes = max(item["peak_bytes"] for item in self._tests)
        self._notes = Notes(len(splices))
        self._screening = self._choose()
        if not self._rounds(splices, jobs, job["enough"], job["margin"]):
            slow = [item for item in splices if self._notes[item["place"]] == SLOW][:_MOST_SLOW]
            for item in slow:
                self._notes[item["place"]] = UNTRIED
            self._round(slow, jobs, 10)

    def _rounds(
        self, splices: list[dict[str, Any]], jobs: int, enough: int, margin: float
    ) -> list[float]:
        """The scores of those that pass."""
        passing: list[float] = []
        size = jobs * _BATCH
        for start in range(0, len(splices), size):
            some = splices[start : start + size]
            if passing and some[0]["score"] > min(passing) + margin:
                break
            passing += self._round(some, jobs, 1)
            if any(self._notes[item["place"]] == UNTRIED for item in some):
                break  # the time is over
            self._say({"event": "tried", "count": start + len(some)})
            if len(passing) >= enough:
                break
        return passing

    def _round(self, splices: list[dict[str, Any]], jobs: int, times: float) -> list[float]:
        """Those of these that pass all tests: their scores."""
        survivors = self._screened(splices, jobs, times) if self._screening else splices
        passing: list[int] = []

        def hear(task: Task, result: Result) -> None:
            if result.verdict == SURVIVED:
                passing.append(task.number)

        self._run([self._whole(item) for item in survivors], hear)
        for place in sorted(passing):
            self._say({"event": "passes", "patch": place})
        return [item["score"] for item in splices if item["place"] in passing]

    def _screened(
        self, splices: list[dict[str, Any]], jobs: int, times: float
    ) -> list[dict[str, Any]]:
        """Those that pass the tests of the screen."""
        waiting = [splices[start::jobs] for start in range(jobs)]
        limit_s = times * self._limit_s
        while waiting := [batch for batch in waiting if batch]:
            self._run([self._batch(number, item, limit_s) for number, item in enumerate(waiting)])
            for batch in waiting:
                for item in batch:
                    if self._notes[item["place"]] == BEGUN:
                        self._notes[item["place"]] = SLOW
            left = [self._untried(batch) for batch in waiting]
            if left == waiting:  # none was begun: there is no time, or no process
                break
            waiting = left
        return [item for item in splices if self._notes[item["place"]] == PASSED]

    def _untried(self, batch: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [item for item in batch if self._notes[item["place"]] == UNTRIED]

    def _batch(self, number: int, splices: list[dict[str, Any]], limit_s: float) -> Task:
        def work(report: Report) -> str:
            report(0)
            screen = Screen(self._suite, self._changing, self._screening, limit_s)
            screen.try_some(splices, self._notes)
            return "screened"

        most_s = limit_s * len(self._screening) * len(splices) + 1
        return Task(number, work, lambda step: Bounds(most_s, _IDLE_S))

    def _whole(self, splice: dict[str, Any]) -> Task:
        """One patch, all tests."""

        def work(report: Report) -> str:
            report(-1)
            try:
                self._changing.put(splice)
            except Exception:
                return killed("collection")
            failing = self._suite.first_failing(range(len(self._tests)), report)
            return SURVIVED if failing is None else killed(self._tests[failing]["id"])

        return Task(splice["place"], work, lambda step: bounds(self._tests, self._collect_s, step))

    def _choose(self) -> list[int]:
        """Failing tests that fail by themselves too, quick ones first."""
        tests = self._tests
        sound = [item["cpu_s"] for item in tests if item["outcome"] != "timeout"]
        self._limit_s = _FLOOR_S + _TIMES * (statistics.median(sound) if sound else 0.0)
        red = [n for n, item in enumerate(tests) if item["outcome"] == "failed"]
        red.sort(key=lambda n: (tests[n]["cpu_s"] > self._limit_s, n))
        red = red or [n for n, item in enumerate(tests) if item["outcome"] == "timeout"][:1]
        still: list[int] = []

        def hear(task: Task, result: Result) -> None:
            if result.verdict != SURVIVED:
                still.append(task.number)

        self._run([self._alone(number) for number in red[:_MOST_SCREENING]], hear)
        self._use_hooks_where_needed()
        return [number for number in red if number in still]

    def _alone(self, number: int) -> Task:
        def work(report: Report) -> str:
            report(number)
            with Alarm(self._limit_s):
                if self._suite.passes(number):
                    return SURVIVED
            return _STILL_RED

        return Task(number, work, lambda step: Bounds(self._limit_s + 1, _IDLE_S))

    def _use_hooks_where_needed(self) -> None:
        """The tests that pass must pass here too, as a patch will meet them."""
        green = [n for n, item in enumerate(self._tests) if item["outcome"] == "passed"]

        def work(report: Report) -> str:
            failing = self._suite.first_failing(green, report)
            return SURVIVED if failing is None else _STILL_RED

        def hear(task: Task, result: Result) -> None:
            if result.verdict != SURVIVED:
                for number in range(len(self._tests)):
                    self._suite.use_hooks(number)

        self._run([Task(0, work, lambda s: bounds(self._tests, self._collect_s, s))], hear)

    def _run(
        self,
        tasks: Sequence[Task],
        done: Callable[[Task, Result], None] = lambda task, result: None,
    ) -> None:
        self._forks.run(tasks, done, clean=self._rooms.clean)
