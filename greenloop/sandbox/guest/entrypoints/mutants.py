"""Tries mutants of one module: started once, it reports each over the side channel.

This process runs no foreign code and alone can write to the channel. It makes pytest ready and
starts a second process, which collects the tests and tries in forks of itself what changes only
functions (`collected`). What changes the import is tried in forks of this one, each of which
collects afresh.
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

from ..protocol.channel import Channel
from ..trials.collected_session import CollectedSession
from ..trials.fork_pool import ForkPool, ForkResult, ForkTask
from ..trials.mutants.hot_swap import ModuleFinder, OriginalModule
from ..trials.mutants.outcomes import (
    COLLECTION_STEP,
    QUICK_TEST_SECONDS,
    SURVIVED,
    killed_verdict,
    result_event,
    started_event,
    step_limits,
)
from ..trials.mutants.session import MutantSession, ReportStep, SendEvent, own_cpu_seconds
from ..trials.workspaces import Workspaces, become_subreaper, set_parent_death_signal

_MAX_JOBS, _GRACE_SECONDS, _MAX_LINE_BYTES = 4, 5.0, 1 << 20
_FORWARDED_EVENTS = ("started", "mutant", "healthy", "trouble", "reached", "tried", "passes")


class MutantTrials:
    """One job: `module`, `targets`, `splices`, `together`, `budget_s`, `work`, `ini`, `limits`."""

    def __init__(self, job: dict[str, Any], channel: Channel) -> None:
        self._channel, self._module = channel, job["module"]
        self._splices: dict[int, dict[str, Any]] = {item["number"]: item for item in job["splices"]}
        path = os.path.join(job["work"], f"{job['module']}.py")
        with open(path, encoding="utf-8", errors="surrogatepass", newline="") as file:
            self._original = OriginalModule(file.read(), path)
        self._jobs = job.get("jobs") or min(_MAX_JOBS, _count_cores())
        self._workspaces = Workspaces(job["work"], self._jobs, job["limits"]["total_bytes"])
        self._session = CollectedSession(
            job["work"], job["ini"], job["targets"], tempfile.mkdtemp()
        )
        self._deadline = time.monotonic() + job["budget_s"]
        self._fork_pool = ForkPool(self._jobs, self._deadline, self._enter_workspace)
        self._use_batches = bool(job.get("together"))
        self._private_fds: list[int] = [job["handle"]]
        self._tests: list[dict[str, Any]] = []
        self._collect_s = 0.0

    def run(self) -> bool:
        """Whether it came to its end as planned."""
        become_subreaper()
        gc.freeze()  # forks need not look through, and so copy, what is older than they are
        fresh = self._run_session_process()
        if fresh is None:
            return False
        if fresh and self._tests:
            self._try_with_fresh_import(fresh)
        return True

    def _enter_workspace(self, slot: int) -> None:
        for handle in self._private_fds:
            os.close(handle)
        self._workspaces.enter(slot, self._session.set_temp_folder)

    def _run_session_process(self) -> list[int] | None:
        """Mutants that need a fresh import; None where the second process broke off."""
        receive, send = os.pipe()
        heard, hearing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(receive)
            os.close(hearing)
            self._run_as_session_process(send, heard)
        os.close(send)
        os.close(heard)
        try:
            return self._listen(receive, hearing)
        finally:
            os.close(receive)
            os.close(hearing)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def _run_as_session_process(self, send: int, ack_fd: int) -> None:
        """In the second process. Never returns."""
        try:
            set_parent_death_signal()
            os.close(self._private_fds[0])
            self._private_fds = [send, ack_fd]
            process = os.getpid()

            def say(event: dict[str, Any]) -> None:
                if os.getpid() != process:
                    os._exit(1)
                data = json.dumps(event).encode() + b"\n"
                while data:
                    data = data[os.write(send, data) :]
                if event["event"] == "started":  # it may end us all: that must be known first
                    os.read(ack_fd, 1)

            self._try_all(ForkPool(self._jobs, self._deadline, self._enter_workspace), say)
            say({"event": "done"})
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode("utf-8", "replace")[:2000])
        finally:
            os._exit(0)

    def _try_all(self, fork_pool: ForkPool, send_event: SendEvent) -> None:
        """In the second process."""
        collected = MutantSession(
            self._session, self._original, self._workspaces, fork_pool, send_event
        )
        collected.try_all(list(self._splices.values()), self._use_batches)

    def _listen(self, receive: int, ack_fd: int) -> list[int] | None:
        fresh: list[int] = []
        heard = b""
        while (left_s := self._deadline + _GRACE_SECONDS - time.monotonic()) > 0:
            if not select.select([receive], [], [], left_s)[0]:
                break
            data = os.read(receive, 65536)
            if not data:
                break
            *lines, heard = (heard + data).split(b"\n")
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
        self._channel.send(**event)

    def _try_with_fresh_import(self, numbers: list[int]) -> None:
        """Each in a fork that imports the changed module and collects the tests again."""
        found: list[ForkResult] = []
        check = self._create_task(0, None)
        self._fork_pool.run(
            [check], lambda _, result: found.append(result), clean_slot=self._workspaces.clean
        )
        if found[0].verdict != SURVIVED:  # the tests do not pass that way on the code itself
            ending = "not_run" if found[0].ending == "not_run" else "error"
            for number in numbers:
                self._report_result(self._create_task(number, None), ForkResult(ending))
            return
        tasks = [self._create_task(number, self._splices[number]) for number in sorted(numbers)]
        self._fork_pool.run(
            tasks,
            self._report_result,
            lambda task: self._forward(started_event(task.number)),
            self._workspaces.clean,
        )

    def _report_result(self, task: ForkTask, result: ForkResult) -> None:
        self._forward(result_event(task.number, result, self._tests))

    def _create_task(self, number: int, splice: dict[str, Any] | None) -> ForkTask:
        left_out = {item["id"] for item in self._tests if item["outcome"] != "passed"}
        slow = {item["id"] for item in self._tests if item["cpu_s"] > QUICK_TEST_SECONDS}

        def work(report: ReportStep) -> str:
            code = self._original.compile_with_change(splice) if splice else self._original.code
            ModuleFinder(self._module, self._original.path, code).install()
            report(COLLECTION_STEP)
            if not _try_collect(self._session):
                return killed_verdict("collection")
            items = self._session.items
            known = [n for n, item in enumerate(items) if item.nodeid not in left_out]
            chosen = sorted(known, key=lambda n: (items[n].nodeid in slow, n))
            failing = self._session.run_until_failure(chosen, report)
            return SURVIVED if failing is None else killed_verdict(items[failing].nodeid)

        return ForkTask(number, work, lambda step: step_limits(self._tests, self._collect_s, step))


def _try_collect(session: CollectedSession) -> bool:
    try:
        return session.collect()
    except BaseException:  # the mutant ends the session while it is imported
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


def main(job: dict[str, Any], handle: int, trials_class: type[MutantTrials] = MutantTrials) -> int:
    """Tries the job's mutants; 0 where it came to its end."""
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
    random.seed(0)
    tempfile.tempdir = None
    channel = Channel(handle, job.pop("key"))
    whole = trials_class({**job, "handle": handle}, channel).run()
    if whole:
        channel.send("end", exit_status=0, cpu_s=own_cpu_seconds())
    return 0 if whole else 1
