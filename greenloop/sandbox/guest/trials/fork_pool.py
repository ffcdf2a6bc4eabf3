"""Pool of forks of this process, each with limits, each killed with all its descendants.

A fork reports its steps and one verdict through a pipe of its own. A fork that ends without a
verdict has crashed; one that ends before its first step is an error of the guest.
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
from typing import NamedTuple

from ..limits.proc_stats import list_children, measure_cpu
from .time_limits import NOTE, STEP, VERDICT, StepLimits, StepReporter, write_message

_POLL_SECONDS, _LOOK_SECONDS = 0.05, 0.01
_FIRST_STEP = -1
_MAX_NOTES = 1000
_Look = Callable[[], None] | None


class ForkTask(NamedTuple):
    """`function(report)` runs in the fork and returns the verdict.

    It calls `report(step)` before each step in which untrusted code runs.
    """

    number: int
    function: Callable[[StepReporter], str]
    step_limits: Callable[[int], StepLimits]


class ForkResult(NamedTuple):
    """Result; `ending` is `verdict`, `timeout`, `crashed`, `error` (of the guest) or `not_run`."""

    ending: str
    verdict: str = ""
    step: int = _FIRST_STEP
    status: int = 0
    notes: tuple[str, ...] = ()


@dataclass
class _Fork:
    task: ForkTask
    pid: int
    pipe: int
    pidfd: int | None
    unparsed: bytes = b""
    step: int = _FIRST_STEP
    cpu_at_step: float = 0.0
    cpu: float = 0.0
    idle_since: float = field(default_factory=time.monotonic)
    step_started_at: float = field(default_factory=time.monotonic)
    has_started: bool = False
    notes: list[str] = field(default_factory=list)
    verdict: str | None = None


class ForkPool:
    """Runs tasks in forks of this process, several at a time."""

    def __init__(
        self,
        max_forks: int,
        deadline: float,
        prepare: Callable[[int], None],
        clean: Callable[[int], None],
    ) -> None:
        """`deadline` is of the monotonic clock.

        `prepare(slot)` is called first in each fork, `clean(slot)` in this process after its end.
        """
        self.max_forks, self._deadline = max_forks, deadline
        self._prepare, self._clean = prepare, clean
        self._running: dict[int, _Fork] = {}
        self._existing_children: set[int] = set()
        self._look: _Look = None

    def run(
        self,
        tasks: Iterable[ForkTask],
        on_done: Callable[[ForkTask, ForkResult], ForkTask | None],
        on_start: Callable[[ForkTask], None] = lambda task: None,
    ) -> None:
        """Run all tasks; `on_done` is called once for each, and may return one more to run next."""
        waiting = deque(tasks)
        self._existing_children = set(list_children(os.getpid()))
        while waiting or self._running:
            while waiting and len(self._running) < self.max_forks and self._has_time_left():
                on_start(waiting[0])
                if not self._start(waiting[0]):
                    break
                waiting.popleft()
            if not self._running:
                for task in waiting:
                    on_done(task, ForkResult("error" if self._has_time_left() else "not_run"))
                return
            for slot, result in self._wait_for_ended():
                task = self._running.pop(slot).task
                self._clean(slot)
                if following := on_done(task, result):
                    waiting.appendleft(following)

    def run_all(self, tasks: Iterable[ForkTask], look: _Look = None) -> dict[int, ForkResult]:
        """Run all tasks and return their results by number, in the order in which they ended.

        `look` is called in this process, a hundred times a second.
        """
        results: dict[int, ForkResult] = {}
        self._look = look
        self.run(tasks, lambda task, result: results.update({task.number: result}))
        self._look = None
        return results

    def _has_time_left(self) -> bool:
        return time.monotonic() < self._deadline

    def _start(self, task: ForkTask) -> bool:
        """Start a task; False if the kernel has no process for it now."""
        slot = next(number for number in range(self.max_forks) if number not in self._running)
        receive, send = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            os.close(receive)
            os.close(send)
            return False
        if pid == 0:
            self._run_in_fork(task, slot, receive, send)
        os.close(send)
        with suppress(OSError):
            os.setpgid(pid, pid)
        os.set_blocking(receive, False)
        self._running[slot] = _Fork(task, pid, receive, _open_pidfd(pid))
        return True

    def _run_in_fork(self, task: ForkTask, slot: int, receive: int, send: int) -> None:
        """In the fork: run the task and exit."""
        process = os.getpid()
        try:
            with suppress(OSError):
                os.setpgid(0, 0)
            os.close(receive)
            for other in self._running.values():
                os.close(other.pipe)
                if other.pidfd is not None:
                    os.close(other.pidfd)
            self._prepare(slot)
            verdict = task.function(StepReporter(send, task.step_limits))
            if os.getpid() == process:  # not a fork of the code under test that returned from it
                write_message(send, VERDICT, verdict)
        finally:
            os._exit(0)

    def _wait_for_ended(self) -> list[tuple[int, ForkResult]]:
        """Return the tasks that have ended; [] if none ended within a short time."""
        handles = {item.pidfd: item for item in self._running.values() if item.pidfd is not None}
        pause_s = _POLL_SECONDS if len(handles) == len(self._running) else _POLL_SECONDS / 20
        if self._look:
            self._look()
            pause_s = min(pause_s, _LOOK_SECONDS)
        select.select(list(handles), [], [], pause_s)
        ended: list[tuple[int, ForkResult]] = []
        for slot, item in list(self._running.items()):
            if os.waitid(os.P_PID, item.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                ended.append((slot, self._kill_and_reap(item)))
            elif not self._has_time_left():
                ended.append((slot, self._kill_and_reap(item, "not_run")))
            elif self._update_and_check_limits(item):
                ended.append((slot, self._kill_and_reap(item, "timeout")))
        return ended

    def _update_and_check_limits(self, item: _Fork) -> bool:
        """Return whether a fork has exceeded the limits of its step."""
        before = item.step
        _read_messages(item)
        now = time.monotonic()
        limits = item.task.step_limits(item.step)
        state = measure_cpu(item.pid)
        if state is None:  # no /proc: elapsed time, with a generous limit
            item.step_started_at = now if item.step != before else item.step_started_at
            return now - item.step_started_at > 4 * limits.cpu_s + limits.idle_s
        cpu, is_active = state
        if item.step != before:  # what it used before this look may be of earlier steps
            item.cpu_at_step, item.idle_since = cpu, now
        if is_active or cpu > item.cpu:
            item.idle_since = now
        item.cpu = max(cpu, item.cpu)
        return item.cpu - item.cpu_at_step > limits.cpu_s or now - item.idle_since > limits.idle_s

    def _kill_and_reap(self, item: _Fork, ending: str = "") -> ForkResult:
        """Kill a fork with its process group and orphans, and return its result."""
        for kill, number in ((os.killpg, item.pid), (os.kill, item.pid)):
            with suppress(OSError):
                kill(number, signal.SIGKILL)
        _, status = os.waitpid(item.pid, 0)
        self._kill_orphans()
        _read_messages(item)
        os.close(item.pipe)
        if item.pidfd is not None:
            os.close(item.pidfd)
        if item.verdict is not None and not ending:
            return ForkResult("verdict", item.verdict, item.step, notes=tuple(item.notes))
        code = os.waitstatus_to_exitcode(status)
        late_ending = "timeout" if code == -signal.SIGPROF and item.has_started else ""
        ending = ending or late_ending or ("crashed" if item.has_started else "error")
        return ForkResult(ending, "", item.step, code, tuple(item.notes))

    def _kill_orphans(self) -> None:
        """Kill processes that forks have started and left; they are children of this subreaper."""
        for _ in range(20):
            own = {item.pid for item in self._running.values()}
            orphans = set(list_children(os.getpid())) - own - self._existing_children
            if not orphans:
                return
            for pid in orphans:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)


def _open_pidfd(pid: int) -> int | None:
    """Return a descriptor that is readable when a process ends; None if not supported."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _read_messages(item: _Fork) -> None:
    """Read what a fork has reported; invalid messages are ignored."""
    with suppress(OSError):
        while data := os.read(item.pipe, 65536):
            item.unparsed += data
    *lines, item.unparsed = item.unparsed.split(b"\n")
    for line in lines:
        kind, rest = line[:1], line[1:]
        if kind == STEP and rest.lstrip(b"-").isdigit():
            item.has_started, item.step = True, int(rest)
        elif kind == NOTE and len(item.notes) < _MAX_NOTES:
            item.notes.append(rest.decode("utf-8", "replace"))
        elif kind == VERDICT:
            item.verdict = rest.decode("utf-8", "replace")
