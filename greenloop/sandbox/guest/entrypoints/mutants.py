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
from ..trials.collected_session import Suite
from ..trials.fork_pool import Forks, Result, Task
from ..trials.mutants.hot_swap import Finder, Original
from ..trials.mutants.outcomes import (
    COLLECTION,
    QUICK_S,
    SURVIVED,
    bounds,
    event_of,
    killed,
    started,
)
from ..trials.mutants.session import Collected, Report, Say, cpu_seconds
from ..trials.workspaces import Rooms, die_with_parent, take_orphans

_MOST_JOBS, _PATIENCE_S, _LONGEST = 4, 5.0, 1 << 20
_FORWARDED = ("started", "mutant", "healthy", "trouble", "reached", "tried", "passes")


class Run:
    """One job: `module`, `targets`, `splices`, `together`, `budget_s`, `work`, `ini`, `limits`."""

    def __init__(self, job: dict[str, Any], channel: Channel) -> None:
        self._channel, self._module = channel, job["module"]
        self._splices: dict[int, dict[str, Any]] = {item["number"]: item for item in job["splices"]}
        path = os.path.join(job["work"], f"{job['module']}.py")
        with open(path, encoding="utf-8", errors="surrogatepass", newline="") as file:
            self._original = Original(file.read(), path)
        self._jobs = job.get("jobs") or min(_MOST_JOBS, _cores())
        self._rooms = Rooms(job["work"], self._jobs, job["limits"]["total_bytes"])
        self._suite = Suite(job["work"], job["ini"], job["targets"], tempfile.mkdtemp())
        self._deadline = time.monotonic() + job["budget_s"]
        self._forks = Forks(self._jobs, self._deadline, self._enter)
        self._together = bool(job.get("together"))
        self._private: list[int] = [job["handle"]]
        self._tests: list[dict[str, Any]] = []
        self._collect_s = 0.0

    def do(self) -> bool:
        """Whether it came to its end as planned."""
        take_orphans()
        gc.freeze()  # forks need not look through, and so copy, what is older than they are
        fresh = self._from_collected()
        if fresh is None:
            return False
        if fresh and self._tests:
            self._afresh(fresh)
        return True

    def _enter(self, slot: int) -> None:
        for handle in self._private:
            os.close(handle)
        self._rooms.enter(slot, self._suite.use_folder)

    def _from_collected(self) -> list[int] | None:
        """Mutants that need a fresh import; None where the second process broke off."""
        receive, send = os.pipe()
        heard, hearing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(receive)
            os.close(hearing)
            self._become_collected(send, heard)
        os.close(send)
        os.close(heard)
        try:
            return self._listen(receive, hearing)
        finally:
            os.close(receive)
            os.close(hearing)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def _become_collected(self, send: int, heard: int) -> None:
        """In the second process. Never returns."""
        try:
            die_with_parent()
            os.close(self._private[0])
            self._private = [send, heard]
            process = os.getpid()

            def say(event: dict[str, Any]) -> None:
                if os.getpid() != process:
                    os._exit(1)
                data = json.dumps(event).encode() + b"\n"
                while data:
                    data = data[os.write(send, data) :]
                if event["event"] == "started":  # it may end us all: that must be known first
                    os.read(heard, 1)

            self._try_all(Forks(self._jobs, self._deadline, self._enter), say)
            say({"event": "done"})
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode("utf-8", "replace")[:2000])
        finally:
            os._exit(0)

    def _try_all(self, forks: Forks, say: Say) -> None:
        """In the second process."""
        collected = Collected(self._suite, self._original, self._rooms, forks, say)
        collected.try_all(list(self._splices.values()), self._together)

    def _listen(self, receive: int, hearing: int) -> list[int] | None:
        fresh: list[int] = []
        heard = b""
        while (left_s := self._deadline + _PATIENCE_S - time.monotonic()) > 0:
            if not select.select([receive], [], [], left_s)[0]:
                break
            data = os.read(receive, 65536)
            if not data:
                break
            *lines, heard = (heard + data).split(b"\n")
            for event in map(_event, lines):
                if event.get("event") == "done":
                    return fresh
                if event.get("event") == "fresh" and event.get("mutant") in self._splices:
                    fresh.append(event["mutant"])
                self._pass_on(event)
                if event.get("event") == "started":
                    os.write(hearing, b".")
        self._channel.send("trouble", what="the process with the tests ended early")
        return None

    def _pass_on(self, event: dict[str, Any]) -> None:
        if event.get("event") not in _FORWARDED:
            return
        if event["event"] == "healthy":
            self._tests, self._collect_s = event["tests"], float(event["collect_s"])
        self._channel.send(**event)

    def _afresh(self, fresh: list[int]) -> None:
        """Each in a fork that imports the changed module and collects the tests again."""
        found: list[Result] = []
        check = self._task(0, None)
        self._forks.run([check], lambda _, result: found.append(result), clean=self._rooms.clean)
        if found[0].verdict != SURVIVED:  # the tests do not pass that way on the code itself
            ending = "not_run" if found[0].ending == "not_run" else "error"
            for number in fresh:
                self._hear(self._task(number, None), Result(ending))
            return
        tasks = [self._task(number, self._splices[number]) for number in sorted(fresh)]
        self._forks.run(
            tasks, self._hear, lambda task: self._pass_on(started(task.number)), self._rooms.clean
        )

    def _hear(self, task: Task, result: Result) -> None:
        self._pass_on(event_of(task.number, result, self._tests))

    def _task(self, number: int, splice: dict[str, Any] | None) -> Task:
        left_out = {item["id"] for item in self._tests if item["outcome"] != "passed"}
        slow = {item["id"] for item in self._tests if item["cpu_s"] > QUICK_S}

        def work(report: Report) -> str:
            code = self._original.with_change(splice) if splice else self._original.whole
            Finder(self._module, self._original.path, code).install()
            report(COLLECTION)
            if not _collects(self._suite):
                return killed("collection")
            items = self._suite.items
            known = [n for n, item in enumerate(items) if item.nodeid not in left_out]
            chosen = sorted(known, key=lambda n: (items[n].nodeid in slow, n))
            failing = self._suite.first_failing(chosen, report)
            return SURVIVED if failing is None else killed(items[failing].nodeid)

        return Task(number, work, lambda step: bounds(self._tests, self._collect_s, step))


def _collects(suite: Suite) -> bool:
    try:
        return suite.collect()
    except BaseException:  # the mutant ends the session while it is imported
        return False


def _event(line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line) if len(line) < _LONGEST else None
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}


def _cores() -> int:
    allowed = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def main(job: dict[str, Any], handle: int, kind: type[Run] = Run) -> int:
    """Tries the job's mutants; 0 where it came to its end."""
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
    random.seed(0)
    tempfile.tempdir = None
    channel = Channel(handle, job.pop("key"))
    whole = kind({**job, "handle": handle}, channel).do()
    if whole:
        channel.send("end", exit_status=0, cpu_s=cpu_seconds())
    return 0 if whole else 1
