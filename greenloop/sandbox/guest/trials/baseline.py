"""What each test of a red suite does on the code as it is: outcome, cost and lines."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from typing import Any

from ..limits.proc_stats import read_address_space
from .collected_session import CollectedSession
from .fork_messages import StepLimits
from .fork_pool import ForkPool, ForkResult, ForkTask
from .line_tracing import trace_lines
from .mutants.session import ReportStep, SendEvent, own_cpu_seconds
from .time_limit import CpuTimeLimit
from .workspaces import Workspaces

_IDLE_SECONDS = 2.0


class BaselineMeasurement:
    """All tests in one fork; where one of them ends it, the rest in another."""

    def __init__(
        self,
        session: CollectedSession,
        path: str,
        workspaces: Workspaces,
        fork_pool: ForkPool,
        max_cpu_s: float,
    ) -> None:
        """`path` is the module's, `most_s` the CPU seconds that a test may use."""
        self._session, self._path = session, path
        self._workspaces, self._fork_pool, self._max_cpu_s = workspaces, fork_pool, max_cpu_s

    def report_outcomes(self, send_event: SendEvent) -> None:
        """Says `reached` once for each test."""
        at, count = 0, len(self._session.items)
        while at < count:
            told, ending = self._run_from(at)
            for item in told:
                send_event({"event": "reached", **item})
            at += len(told)
            if ending == "not_run":
                send_event(
                    {"event": "trouble", "what": "the time was over before all tests were run"}
                )
                return
            if at < count and (ending != "verdict" or not told):
                send_event({"event": "reached", **self._timeout_event(at)})
                at += 1

    def _run_from(self, first: int) -> tuple[list[dict[str, Any]], str]:
        path = f"{os.environ['TMPDIR']}/reached-{first}.json"
        found: list[ForkResult] = []
        bounds = StepLimits(3 * self._max_cpu_s + 1, self._max_cpu_s + _IDLE_SECONDS)
        task = ForkTask(
            0, lambda report: self._write_outcomes(first, path, report), lambda step: bounds
        )
        self._fork_pool.run(
            [task], lambda _, result: found.append(result), clean_slot=self._workspaces.clean
        )
        return list(_read_outcomes(path, len(self._session.items) - first)), found[0].ending

    def _timeout_event(self, number: int) -> dict[str, Any]:
        test = self._session.items[number].nodeid
        cost = {"cpu_s": self._max_cpu_s, "wall_s": self._max_cpu_s}
        return {"test": test, "outcome": "timeout", "lines": [], **cost}

    def _write_outcomes(self, first: int, path: str, report_step: ReportStep) -> str:
        """In a fork."""
        with open(path, "w", encoding="utf-8") as file:
            for number in range(first, len(self._session.items)):
                report_step(number)
                told = self._measure_test(number)
                file.write(json.dumps(told) + "\n")
                file.flush()
                if told["outcome"] == "timeout":
                    break  # it was torn out of pytest's hands: the next one needs fresh ones
        return "reached"

    def _measure_test(self, number: int) -> dict[str, Any]:
        outcomes: list[str] = []
        alarm = CpuTimeLimit(self._max_cpu_s)

        def work() -> None:
            with alarm:
                outcomes.append(self._session.run_with_outcome(number))

        cpu, clock = own_cpu_seconds(), time.monotonic()
        lines = trace_lines(self._path, work)
        return {
            "test": self._session.items[number].nodeid,
            "outcome": "timeout" if alarm.is_exceeded else outcomes[0],
            "lines": sorted(lines),
            "cpu_s": own_cpu_seconds() - cpu,
            "wall_s": time.monotonic() - clock,
            "peak_bytes": read_address_space("VmPeak"),
        }


def _read_outcomes(path: str, max_lines: int) -> Iterator[dict[str, Any]]:
    """Foreign code may have written to it as well: what makes no sense ends it."""
    try:
        with open(path, encoding="utf-8") as file:
            for _, line in zip(range(max_lines), file, strict=False):
                yield dict(json.loads(line))
    except (OSError, ValueError, TypeError):
        return
