"""Entry point of mutants: tries mutants of one module and reports each over the channel.

This process runs no untrusted code and alone can write to the channel. It configures pytest and
starts a second process, which collects the tests and tries mutants of function bodies in forks of
itself (`trials`). Mutants that change the import are tried in forks of this process, each of which
collects the tests again.
"""

from __future__ import annotations

import gc
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
from typing import Any

from ..isolation.null_device import list_open_fds
from ..limits.proc_stats import own_cpu_seconds
from ..protocol.framing import Channel, write_all
from ..trials.collected_session import CollectedSession
from ..trials.context import ReportStep, TrialContext
from ..trials.fork_pool import ForkPool, ForkResult, ForkTask
from ..trials.hot_swap import ModuleFinder, OriginalModule
from ..trials.mutants.session import try_mutants
from ..trials.outcomes import (
    COLLECTION_STEP,
    QUICK_TEST_SECONDS,
    SURVIVED,
    build_killed_verdict,
    build_started_event,
    result_event,
    step_limits,
)
from ..trials.time_limits import MAX_TRIALS_PER_CORE
from ..trials.workspaces import Workspaces, become_subreaper, set_parent_death_signal

_MAX_JOBS, _GRACE_SECONDS, _MAX_LINE_BYTES = 4, 5.0, 1 << 20
_ORIGINAL = -1  # instead of the number of a mutant
_FORWARDED_EVENTS = ("started", "mutant", "healthy", "trouble", "reached", "tried", "passes")


class MutantTrials:
    """Trials of one job."""

    def __init__(self, job: dict[str, Any], channel: Channel) -> None:
        """The job has `module`, `targets`, `splices`, `together`, `budget_s`, `work`, `ini`,
        `limits`.
        """
        self._channel, self._module = channel, job["module"]
        self._splices: dict[int, dict[str, Any]] = {item["number"]: item for item in job["splices"]}
        path = os.path.join(job["work"], f"{job['module']}.py")
        with open(path, encoding="utf-8", errors="surrogatepass", newline="") as file:
            self._original = OriginalModule(file.read(), path)
        self._jobs = job.get("jobs") or min(_MAX_JOBS, _count_cores())
        self._session = CollectedSession(job)
        guest_fds = [number for number in list_open_fds() if number != job["handle"]]
        total_bytes = job["limits"]["total_bytes"]
        self._workspaces = Workspaces(job["work"], self._jobs, total_bytes, guest_fds)
        self._deadline = time.monotonic() + job["budget_s"]
        self._use_batches = bool(job.get("together"))
        self._private_fds: list[int] = [job["handle"]]
        self._tests: list[dict[str, Any]] = []
        self._collect_s, self._width = 0.0, self._jobs

    def run(self) -> bool:
        """Run the trials; False if the process with the tests broke off."""
        become_subreaper()
        gc.freeze()  # otherwise a collection in a fork would copy all pages
        fresh = self._run_session_process()
        if fresh is None:
            return False
        if fresh and self._tests:
            self._try_with_fresh_import(fresh)
        return True

    def _create_pool(self) -> ForkPool:
        return ForkPool(self._width, self._deadline, self._enter_workspace, self._workspaces.clean)

    def _enter_workspace(self, slot: int) -> None:
        for handle in self._private_fds:
            os.close(handle)
        self._workspaces.enter(slot, self._session.set_temp_folder)

    def _run_session_process(self) -> list[int] | None:
        """Return the mutants that need a fresh import; None if the second process broke off."""
        receive, send = os.pipe()
        ack, ack_in = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(receive)
            os.close(ack_in)
            self._run_as_session_process(send, ack)
        os.close(send)
        os.close(ack)
        try:
            return self._receive_events(receive, ack_in)
        finally:
            os.close(receive)
            os.close(ack_in)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def _run_as_session_process(self, send: int, ack_fd: int) -> None:
        """In the second process: collect the tests and try mutants. Never returns."""
        try:
            set_parent_death_signal()
            os.close(self._private_fds[0])
            self._private_fds = [send, ack_fd]
            process = os.getpid()

            def send_event(event: dict[str, Any]) -> None:
                if os.getpid() != process:
                    os._exit(1)
                write_all(send, json.dumps(event).encode() + b"\n")
                if event["event"] == "started":  # must be reported before it can kill this process
                    os.read(ack_fd, 1)

            suite = (self._session, self._original, self._workspaces, self._create_pool())
            self._try_all(TrialContext(*suite, send_event))
            send_event({"event": "done"})
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode("utf-8", "replace")[:2000])
        finally:
            os._exit(0)

    def _try_all(self, context: TrialContext) -> None:
        """In the second process: run all trials that it can run."""
        try_mutants(context, list(self._splices.values()), self._use_batches)

    def _receive_events(self, receive: int, ack_fd: int) -> list[int] | None:
        fresh: list[int] = []
        unparsed = b""
        while (left_s := self._deadline + _GRACE_SECONDS - time.monotonic()) > 0:
            if not select.select([receive], [], [], left_s)[0]:
                break
            data = os.read(receive, 65536)
            if not data:
                break
            *lines, unparsed = (unparsed + data).split(b"\n")
            for event in map(_parse_event, lines):
                if event.get("event") == "done":
                    return fresh
                if event.get("event") == "fresh" and event.get("mutant") in self._splices:
                    fresh.append(event["mutant"])
                self._forward(event)
                if event.get("event") == "started":
                    os.write(ack_fd, b".")
        self._channel.send("trouble", what="the process with the tests ended early")
        return None

    def _forward(self, event: dict[str, Any]) -> None:
        if event.get("event") not in _FORWARDED_EVENTS:
            return
        if event["event"] == "healthy":
            self._tests, self._collect_s = event["tests"], float(event["collect_s"])
            self._width = max(1, min(int(event["width"]), MAX_TRIALS_PER_CORE * self._jobs))
            self._workspaces.share_memory(self._width)
        self._channel.send(**event)

    def _try_with_fresh_import(self, numbers: list[int]) -> None:
        """Try each in a fork that imports the changed module and collects the tests again.

        That a mutant is noticed counts only where the original code passes this way, too. Forks share
        files, so code could count them: it cannot know which of them, after the first, is the original.
        """
        results: dict[int, ForkResult] = {}

        def start(task: ForkTask) -> None:
            if task.number != _ORIGINAL:
                self._forward(build_started_event([task.number]))

        def receive(task: ForkTask, result: ForkResult) -> None:
            results[task.number] = result
            if check := results.get(_ORIGINAL):
                self._report_fresh(results, check)

        order = sorted(numbers)
        order.insert(1 + int.from_bytes(os.urandom(4), "big") % len(order), _ORIGINAL)
        tasks = [self._create_task(number) for number in order]
        self._create_pool().run(tasks, receive, start)

    def _report_fresh(self, results: dict[int, ForkResult], check: ForkResult) -> None:
        """Report the results of mutants, and take them out; `check` is that of the original."""
        unknown = ForkResult("not_run" if check.ending == "not_run" else "error")
        for number in results.keys() - {_ORIGINAL}:
            result = results.pop(number)
            is_certain = SURVIVED in (result.verdict, check.verdict)
            self._forward(result_event(number, result if is_certain else unknown, self._tests))

    def _create_task(self, number: int) -> ForkTask:
        splice = self._splices.get(number)
        excluded = {item["id"] for item in self._tests if item["outcome"] != "passed"}
        slow = {item["id"] for item in self._tests if item["cpu_s"] > QUICK_TEST_SECONDS}

        def work(report: ReportStep) -> str:
            code = self._original.compile_with_change(splice) if splice else self._original.code
            ModuleFinder(self._module, self._original.path, code).install()
            report(COLLECTION_STEP)
            if not _try_collect(self._session):
                return build_killed_verdict("collection")
            items = self._session.items
            included = [n for n, item in enumerate(items) if item.nodeid not in excluded]
            chosen = sorted(included, key=lambda n: (items[n].nodeid in slow, n))
            failing = self._session.run_until_failure(chosen, report)
            return SURVIVED if failing is None else build_killed_verdict(items[failing].nodeid)

        return ForkTask(number, work, lambda step: step_limits(self._tests, self._collect_s, step))


def _try_collect(session: CollectedSession) -> bool:
    try:
        return session.collect()
    except BaseException:  # the mutant exits while it is imported
        return False


def _parse_event(line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line) if len(line) < _MAX_LINE_BYTES else None
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}


def _count_cores() -> int:
    allowed = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def main(
    job: dict[str, Any], result_fd: int, trials_class: type[MutantTrials] = MutantTrials
) -> int:
    """Try the job's mutants; 0 unless the trials broke off."""
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
    random.seed(0)
    tempfile.tempdir = None
    channel = Channel(result_fd, job.pop("key"))
    is_complete = trials_class({**job, "handle": result_fd}, channel).run()
    if is_complete:
        channel.send("end", exit_status=0, cpu_s=own_cpu_seconds())
    return 0 if is_complete else 1
