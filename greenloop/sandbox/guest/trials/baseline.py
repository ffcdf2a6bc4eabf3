"""What each test of a red suite does on the code as it is: outcome, cost and lines."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import Any

from ..limits.proc_stats import address_space
from .collected_session import Suite
from .fork_messages import Bounds
from .fork_pool import Forks, Result, Task
from .line_tracing import lines_in
from .mutants.session import Report, Say, cpu_seconds
from .time_limit import Alarm
from .workspaces import Rooms

_IDLE_S = 2.0


class Reaching:
    """All tests in one fork; where one of them ends it, the rest in another."""

    def __init__(self, suite: Suite, path: str, rooms: Rooms, forks: Forks, most_s: float) -> None:
        """`path` is the module's, `most_s` the CPU seconds that a test may use."""
        self._suite, self._path = suite, path
        self._rooms, self._forks, self._most_s = rooms, forks, most_s

    def tell(self, say: Say) -> None:
        """Says `reached` once for each test."""
        at, count = 0, len(self._suite.items)
        while at < count:
            told, ending = self._from(at)
            for item in told:
                say({"event": "reached", **item})
            at += len(told)
            if ending == "not_run":
                say({"event": "trouble", "what": "the time was over before all tests were run"})
                return
            if at < count and (ending != "verdict" or not told):
                say({"event": "reached", **self._lost(at)})
                at += 1

    def _from(self, first: int) -> tuple[list[dict[str, Any]], str]:
        path = f"{os.environ['TMPDIR']}/reached-{first}.json"
        found: list[Result] = []
        bounds = Bounds(3 * self._most_s + 1, self._most_s + _IDLE_S)
        task = Task(0, lambda report: self._write(first, path, report), lambda step: bounds)
        self._forks.run([task], lambda _, result: found.append(result), clean=self._rooms.clean)
        return list(_read(path, len(self._suite.items) - first)), found[0].ending

    def _lost(self, number: int) -> dict[str, Any]:
        test = self._suite.items[number].nodeid
        cost = {"cpu_s": self._most_s, "wall_s": self._most_s}
        return {"test": test, "outcome": "timeout", "lines": [], **cost}

    def _write(self, first: int, path: str, report: Report) -> str:
        """In a fork."""
        with open(path, "w", encoding="utf-8") as file:
            for number in range(first, len(self._suite.items)):
                report(number)
                told = self._one(number)
                file.write(json.dumps(told) + "\n")
                file.flush()
                if told["outcome"] == "timeout":
                    break  # it was torn out of pytest's hands: the next one needs fresh ones
        return "reached"

    def _one(self, number: int) -> dict[str, Any]:
        outcomes: list[str] = []
        alarm = Alarm(self._most_s)

        def work() -> None:
            with alarm:
                outcomes.append(self._suite.outcome(number))

        cpu, clock = cpu_seconds(), time.monotonic()
        lines = lines_in(self._path, work)
        return {
            "test": self._suite.items[number].nodeid,
            "outcome": "timeout" if alarm.rang else outcomes[0],
            "lines": sorted(lines),
            "cpu_s": cpu_seconds() - cpu,
            "wall_s": time.monotonic() - clock,
            "peak_bytes": address_space("VmPeak"),
        }


def _read(path: str, most: int) -> Iterator[dict[str, Any]]:
    """Foreign code may have written to it as well: what makes no sense ends it."""
    try:
        with open(path, encoding="utf-8") as file:
            for _, line in zip(range(most), file, strict=False):
                yield dict(json.loads(line))
    except (OSError, ValueError, TypeError):
        return
