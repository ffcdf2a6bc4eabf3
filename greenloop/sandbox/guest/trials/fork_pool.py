"""Forks of this process, a few at a time, each bounded, each ended with all that it started.

A fork reports through a pipe of its own: at which step it is, and at its end one verdict. What ends
without a verdict has crashed; only what never began is our own error.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from ..limits.proc_stats import children, used
from .fork_messages import NOTE, STEP, VERDICT, Bounds, Reporting, say

_WATCH_S = 0.05
_FIRST_STEP = -1
_MOST_NOTES = 1000


@dataclass(frozen=True)
class Task:
    """`work(report)` is done in the fork and returns the verdict.

    Before each step in which foreign code runs it calls `report(step)`: what ends before the first
    of these is an error of ours.
    """

    number: int
    work: Callable[[Reporting], str]
    bounds: Callable[[int], Bounds]


@dataclass(frozen=True)
class Result:
    """`ending`: `verdict` (see there), `timeout`, `crashed`, `error` (ours) or `not_run`."""

    ending: str
    verdict: str = ""
    step: int = _FIRST_STEP
    status: int = 0
    notes: tuple[str, ...] = ()


@dataclass
class _Fork:
    task: Task
    pid: int
    pipe: int
    alive: int | None
    heard: bytes = b""
    step: int = _FIRST_STEP
    cpu_at_step: float = 0.0
    cpu: float = 0.0
    quiet_since: float = field(default_factory=time.monotonic)
    step_since: float = field(default_factory=time.monotonic)
    begun: bool = False
    notes: list[str] = field(default_factory=list)
    verdict: str | None = None


class Forks:
    """Runs tasks in forks of this process."""

    def __init__(self, most: int, deadline: float, prepare: Callable[[int], None]) -> None:
        """`deadline` is of the monotonic clock; `prepare(slot)` is called first in each fork."""
        self._most, self._deadline, self._prepare = most, deadline, prepare
        self._running: dict[int, _Fork] = {}
        self._before: set[int] = set()

    def run(
        self,
        tasks: Iterable[Task],
        done: Callable[[Task, Result], None],
        begin: Callable[[Task], None] = lambda task: None,
        clean: Callable[[int], None] = lambda slot: None,
    ) -> None:
        """All of them; `done` hears of each once, `clean(slot)` comes after each."""
        waiting = deque(tasks)
        self._before = set(children(os.getpid()))
        while waiting or self._running:
            while waiting and len(self._running) < self._most and self._in_time():
                begin(waiting[0])
                if not self._start(waiting[0]):
                    break
                waiting.popleft()
            if not self._running:
                for task in waiting:
                    done(task, Result("error" if self._in_time() else "not_run"))
                return
            for slot, result in self._wait():
                task = self._running.pop(slot).task
                clean(slot)
                done(task, result)

    def _in_time(self) -> bool:
        return time.monotonic() < self._deadline

    def _start(self, task: Task) -> bool:
        """False where the kernel gives no process just now."""
        slot = next(number for number in range(self._most) if number not in self._running)
        receive, send = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            os.close(receive)
            os.close(send)
            return False
        if pid == 0:
            self._become(task, slot, receive, send)
        os.close(send)
        with suppress(OSError):
            os.setpgid(pid, pid)
        os.set_blocking(receive, False)
        self._running[slot] = _Fork(task, pid, receive, _handle(pid))
        return True

    def _become(self, task: Task, slot: int, receive: int, send: int) -> None:
        """In the fork. Never returns."""
        process = os.getpid()
        try:
            with suppress(OSError):
                os.setpgid(0, 0)
            os.close(receive)
            for other in self._running.values():
                os.close(other.pipe)
                if other.alive is not None:
                    os.close(other.alive)
            self._prepare(slot)
            verdict = task.work(Reporting(send, task.bounds))
            if os.getpid() == process:  # not a fork of the code under test that came back from it
                say(send, VERDICT, verdict)
        finally:
            os._exit(0)

    def _wait(self) -> list[tuple[int, Result]]:
        """Those that have come to an end; [] where none did for a moment."""
        handles = {item.alive: item for item in self._running.values() if item.alive is not None}
        pause_s = _WATCH_S if len(handles) == len(self._running) else _WATCH_S / 20
        select.select(list(handles), [], [], pause_s)
        ended: list[tuple[int, Result]] = []
        for slot, item in list(self._running.items()):
            if os.waitid(os.P_PID, item.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                ended.append((slot, self._end(item)))
            elif not self._in_time():
                ended.append((slot, self._end(item, "not_run")))
            elif self._is_over(item):
                ended.append((slot, self._end(item, "timeout")))
        return ended

    def _is_over(self, item: _Fork) -> bool:
        """Whether it has used more than it may for the step that it is at."""
        before = item.step
        _drain(item)
        now = time.monotonic()
        bounds = item.task.bounds(item.step)
        state = used(item.pid)
        if state is None:  # no /proc: the clock alone, generously
            item.step_since = now if item.step != before else item.step_since
            return now - item.step_since > 4 * bounds.cpu_s + bounds.idle_s
        cpu, awake = state
        if item.step != before:
            item.cpu_at_step, item.quiet_since = item.cpu, now
        if awake or cpu > item.cpu:
            item.quiet_since = now
        item.cpu = max(cpu, item.cpu)
        return item.cpu - item.cpu_at_step > bounds.cpu_s or now - item.quiet_since > bounds.idle_s

    def _end(self, item: _Fork, ending: str = "") -> Result:
        """Ends a fork with its process group and what has left that; what it had to say."""
        for kill, number in ((os.killpg, item.pid), (os.kill, item.pid)):
            with suppress(OSError):
                kill(number, signal.SIGKILL)
        _, status = os.waitpid(item.pid, 0)
        self._sweep()
        _drain(item)
        os.close(item.pipe)
        if item.alive is not None:
            os.close(item.alive)
        if item.verdict is not None and not ending:
            return Result("verdict", item.verdict, item.step, notes=tuple(item.notes))
        code = os.waitstatus_to_exitcode(status)
        late = "timeout" if code == -signal.SIGPROF and item.begun else ""
        ending = ending or late or ("crashed" if item.begun else "error")
        return Result(ending, "", item.step, code, tuple(item.notes))

    def _sweep(self) -> None:
        """Orphans that came to us, the subreaper: what a fork started and let go."""
        for _ in range(20):
            own = {item.pid for item in self._running.values()}
            strays = set(children(os.getpid())) - own - self._before
            if not strays:
                return
            for pid in strays:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)


def _handle(pid: int) -> int | None:
    """A descriptor that tells of a process's end; None where the kernel has none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _drain(item: _Fork) -> None:
    """Takes in what the fork has reported; what makes no sense is left out."""
    with suppress(OSError):
        while data := os.read(item.pipe, 65536):
            item.heard += data
    *lines, item.heard = item.heard.split(b"\n")
    for line in lines:
        kind, rest = line[:1], line[1:]
        if kind == STEP and rest.lstrip(b"-").isdigit():
            item.begun, item.step = True, int(rest)
        elif kind == NOTE and len(item.notes) < _MOST_NOTES:
            item.notes.append(rest.decode("utf-8", "replace"))
        elif kind == VERDICT:
            item.verdict = rest.decode("utf-8", "replace")
