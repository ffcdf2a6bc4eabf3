"""Baseline of a red suite: outcome, cost and reached lines of each test on the original code."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from ..limits.cpu_time import CpuTimeLimit
from ..limits.proc_stats import read_address_space
from .context import ReportStep, TrialContext
from .fork_pool import ForkTask
from .listening import ListeningSockets
from .time_limits import StepLimits
from .workspaces import OutsideUse

_IDLE_SECONDS = 2.0


class BaselineMeasurement:
    """Runs all tests in one fork; after a test that ends the fork, the rest in another."""

    def __init__(self, context: TrialContext, max_cpu_s: float) -> None:
        """`max_cpu_s` is the limit of each test in CPU seconds."""
        self._context, self._max_cpu_s = context, max_cpu_s
        self._items = context.session.items

    def report_outcomes(self) -> None:
        """Send an event `reached` for each test."""
        at, count, sockets = 0, len(self._items), ListeningSockets()
        while at < count:
            outcomes, ending = self._run_from(at, sockets)
            for item in outcomes:
                item["uses_outside"] = sockets.shares(item)
                self._context.send_event({"event": "reached", **item})
            at += len(outcomes)
            if ending == "not_run":
                self._context.report_trouble("the time was over before all tests were run")
                return
            if at < count and (ending != "verdict" or not outcomes):
                self._context.send_event({"event": "reached", **self._timeout_event(at)})
                at += 1

    def _run_from(self, first: int, sockets: ListeningSockets) -> tuple[list[dict[str, Any]], str]:
        path = f"{os.environ['TMPDIR']}/reached-{first}.json"
        limits = StepLimits(3 * self._max_cpu_s + 1, self._max_cpu_s + _IDLE_SECONDS)
        task = ForkTask(
            0, lambda report: self._write_outcomes(first, path, report), lambda _: limits
        )
        result = self._context.fork_pool.run_all([task], sockets.look)[task.number]
        return list(_read_outcomes(path, len(self._items) - first)), result.ending

    def _timeout_event(self, number: int) -> dict[str, Any]:
        cost = {"cpu_s": self._max_cpu_s, "wall_s": self._max_cpu_s}
        return {"test": self._items[number].nodeid, "outcome": "timeout", "lines": [], **cost}

    def _write_outcomes(self, first: int, path: str, report_step: ReportStep) -> str:
        """In a fork: write the outcomes to a file, up to the first timeout."""
        outside = OutsideUse()
        with open(path, "w", encoding="utf-8") as file:
            outside.watch()
            for number in range(first, len(self._items)):
                report_step(number)
                outcome = {**self._measure_test(number), **outside.describe()}
                file.write(json.dumps(outcome) + "\n")
                file.flush()
                if outcome["outcome"] == "timeout":
                    break  # pytest was interrupted: the next test needs a new fork
        return "reached"

    def _measure_test(self, number: int) -> dict[str, Any]:
        outcomes: list[str] = []
        limit = CpuTimeLimit(self._max_cpu_s)

        def run_test() -> None:
            with limit:
                outcomes.append(self._context.session.run_with_outcome(number))

        measured = self._context.measure(run_test)
        return {
            "test": self._items[number].nodeid,
            "outcome": "timeout" if limit.is_exceeded else outcomes[0],
            **measured,
            "peak_bytes": read_address_space("VmPeak"),
        }


def _read_outcomes(path: str, max_lines: int) -> Iterator[dict[str, Any]]:
    """Yield outcomes up to the first invalid line: untrusted code may have written to the file."""
    try:
        with open(path, encoding="utf-8") as file:
            for _, line in zip(range(max_lines), file, strict=False):
                yield dict(json.loads(line))
    except (OSError, ValueError, TypeError):
        return
