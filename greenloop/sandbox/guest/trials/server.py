"""Server process of trials, which has collected the tests and tries each edit in a new fork.

Code under test runs in this process and in its forks, so none of their reports is trusted.
"""

import gc
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

from ..isolation.null_device import find_positions, redirect_to_null, restore_positions
from ..limits.cpu_time import CpuTimeLimit
from ..limits.proc_stats import own_cpu_seconds, read_address_space
from .folders import FolderState
from .forks import Fork, ForkResult, Reporter, become_subreaper, start_fork
from .limits import COLLECTION, NO_LIMITS, limit_memory, limit_step
from .line_tracing import trace_lines, watch_started_processes
from .session import TrialSession
from .swap import EditedFile, LoadedFunctions, is_loaded

SURVIVED, NEEDS_IMPORT, UNCOVERED = "survived", "import", "uncovered"
Work = Callable[[Reporter], Any]


class TrialServer:
    """Server of requests from the process that started it, one JSON line each."""

    def __init__(
        self, job: Mapping[str, Any], file: EditedFile, requests: BinaryIO, reporter: Reporter
    ) -> None:
        self._job, self._file = job, file
        self._requests, self._reporter = requests, reporter
        self._tests: list[dict[str, Any]] = []
        self._peak_bytes = 0

    def serve(self, session: TrialSession) -> None:
        """Answer requests until their stream ends; never return."""
        try:
            self._prepare(session)
            for line in self._requests:
                self._reporter.send(self._answer(**json.loads(line)))
            self._reporter.finish(None)
        except BaseException as error:
            self._reporter.fail(error)

    def _prepare(self, session: TrialSession) -> None:
        become_subreaper()
        self._session = session
        self._functions = LoadedFunctions(self._file.path, session.called)
        self._folders = FolderState(self._job["folders"])
        self._positions = find_positions()
        gc.collect()
        gc.freeze()
        ready = {
            "tests": [item.nodeid for item in session.items],
            "is_collected": session.is_collected,
            "is_loaded": is_loaded(self._file.path),
            "has_threads": threading.active_count() > 1,
            "collect_s": session.collect_s,
        }
        self._reporter.send(ready)

    def _answer(self, do: str, **values: Any) -> Any:
        actions: dict[str, Callable[..., Any]] = {
            "measure": self._measure,
            "check": self._check,
            "try": self._try,
            "set": self._set_baseline,
        }
        answer = actions[do](**values)
        failed = self._folders.restore()
        return {"failed": failed} if failed else answer

    def _set_baseline(self, tests: list[dict[str, Any]]) -> dict[str, Any]:
        """Set the costs of the tests on the original code, from which limits of trials follow."""
        self._tests = tests
        self._peak_bytes = max([int(item["peak_bytes"]) for item in tests], default=0)
        return {}

    def _measure(self, numbers: list[int], cpu_s: float) -> dict[str, Any]:
        """Run tests on the original in one fork; return outcome, cost and lines of each."""

        def work(reporter: Reporter) -> None:
            started = watch_started_processes()
            for number in numbers:
                reporter.begin(number)
                measured = self._measure_test(number, cpu_s)
                reporter.send({**measured, **started})
                if measured["outcome"] == "timeout":
                    return  # pytest was interrupted: the next test needs a new fork

        limits = (
            NO_LIMITS if cpu_s > 1e6 else NO_LIMITS._replace(cpu_s=3 * cpu_s + 1, idle_s=cpu_s + 2)
        )
        result = self._run(work, lambda step: limits)
        return {"ending": result.ending, "step": result.step, "tests": result.values}

    def _measure_test(self, number: int, cpu_s: float) -> dict[str, Any]:
        outcomes: list[str] = []
        limit = CpuTimeLimit(cpu_s)

        def run_test() -> None:
            with limit:
                after = number + 1 if number + 1 < len(self._session.items) else None
                outcomes.append(self._session.run(number, after))

        cpu, clock = own_cpu_seconds(), time.monotonic()
        lines = trace_lines(self._file.path, run_test)
        return {
            "number": number,
            "outcome": "timeout" if limit.is_exceeded else outcomes[0],
            "lines": sorted(lines),
            "cpu_s": own_cpu_seconds() - cpu,
            "wall_s": time.monotonic() - clock,
            "peak_bytes": read_address_space("VmPeak"),
            "is_loaded": is_loaded(self._file.path),
        }

    def _check(self, numbers: list[int]) -> dict[str, Any]:
        """Run tests on the original as in a trial."""
        return self._describe(self._run(lambda report: self._run_tests(numbers, report)))

    def _try(self, edit: dict[str, Any], numbers: list[int], writes_file: bool) -> dict[str, Any]:
        changed = self._file.compile_changed_functions(edit)
        if changed is None or not self._functions.can_replace(changed):
            return {"ending": "verdict", "verdict": NEEDS_IMPORT}
        if not numbers:
            return {"ending": "verdict", "verdict": UNCOVERED}
        if writes_file:  # for the processes that tests start
            self._file.write(edit)

        def work(reporter: Reporter) -> Any:
            self._functions.replace(changed)
            return self._run_tests(numbers, reporter)

        return self._describe(self._run(work))

    def _run_tests(self, numbers: Sequence[int], reporter: Reporter) -> Any:
        failing = self._session.run_until_failure(numbers, reporter.begin)
        return SURVIVED if failing is None else {"killed": self._session.items[failing].nodeid}

    def _run(self, work: Work, get_limits: Callable[[int], Any] | None = None) -> ForkResult:
        fork = start_fork(get_limits or self._limit_step)
        if isinstance(fork, Fork):
            return fork.wait(self._job["budget"].is_over)
        try:
            self._enter_fork()
            verdict = work(fork)
        except BaseException as error:
            fork.fail(error)
        fork.finish(verdict)
        raise SystemExit

    def _limit_step(self, step: int) -> Any:
        return limit_step(self._tests, self._session.collect_s, step)

    def _enter_fork(self) -> None:
        self._requests.close()
        self._reporter.close()
        redirect_to_null(self._job["shared_fds"])
        restore_positions(self._positions)
        if self._tests:
            limit_memory(self._peak_bytes, self._job["limits"]["total_bytes"])

    def _describe(self, result: ForkResult) -> dict[str, Any]:
        return {"ending": result.ending, "verdict": result.verdict, "step": result.step}


class FreshTrial:
    """Trial in a fork from before the collection, which loads the file as written for the trial."""

    def __init__(self, reporter: Reporter, known: Sequence[str], order: Sequence[str]) -> None:
        """`known` are the node ids of all tests, `order` those to run before any new tests."""
        self._reporter, self._order = reporter, order
        self._numbers = {name: number for number, name in enumerate(known)}

    def run(self, session: TrialSession) -> None:
        """Run the tests until one fails; never return."""
        try:
            self._reporter.finish(self._find_failing(session))
        except BaseException as error:
            self._reporter.fail(error)

    def _find_failing(self, session: TrialSession) -> Any:
        if not session.is_collected:
            return {"killed": "collection"}
        places = {item.nodeid: place for place, item in enumerate(session.items)}
        names = list(places)
        chosen = [places[name] for name in self._order if name in places]
        chosen += [place for name, place in places.items() if name not in self._numbers]

        def begin(place: int) -> None:
            self._reporter.begin(self._numbers.get(names[place], COLLECTION))

        failing = session.run_until_failure(chosen, begin)
        return SURVIVED if failing is None else {"killed": names[failing]}
