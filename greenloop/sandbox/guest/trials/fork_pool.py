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

from ..limits.proc_stats import list_children, measure_cpu
from .fork_messages import NOTE, STEP, VERDICT, StepLimits, StepReporter, write_message

_POLL_SECONDS = 0.05
_FIRST_STEP = -1
_MAX_NOTES = 1000


@dataclass(frozen=True)
class ForkTask:
    """`work(report)` is done in the fork and returns the verdict.

    Before each step in which foreign code runs it calls `report(step)`: what ends before the first
    of these is an error of ours.
    """

    number: int
    function: Callable[[StepReporter], str]
    step_limits: Callable[[int], StepLimits]


@dataclass(frozen=True)
class ForkResult:
    """`ending`: `verdict` (see there), `timeout`, `crashed`, `error` (ours) or `not_run`."""

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
    """Runs tasks in forks of this process."""

    def __init__(self, max_forks: int, deadline: float, prepare: Callable[[int], None]) -> None:
        """`deadline` is of the monotonic clock; `prepare(slot)` is called first in each fork."""
        self._max_forks, self._deadline, self._prepare = max_forks, deadline, prepare
        self._running: dict[int, _Fork] = {}
        self._existing_children: set[int] = set()

    def run(
        self,
        tasks: Iterable[ForkTask],
        on_done: Callable[[ForkTask, ForkResult], None],
        on_start: Callable[[ForkTask], None] = lambda task: None,
        clean_slot: Callable[[int], None] = lambda slot: None,
    ) -> None:
        """All of them; `done` hears of each once, `clean(slot)` comes after each."""
        waiting = deque(tasks)
        self._existing_children = set(list_children(os.getpid()))
        while waiting or self._running:
            while waiting and len(self._running) < self._max_forks and self._has_time_left():
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
                clean_slot(slot)
                on_done(task, result)

    def _has_time_left(self) -> bool:
        return time.monotonic() < self._deadline

    def _start(self, task: ForkTask) -> bool:
        """False where the kernel gives no process just now."""
        slot = next(number for number in range(self._max_forks) if number not in self._running)
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
        """In the fork. Never returns."""
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
            if os.getpid() == process:  # not a fork of the code under test that came back from it
                write_message(send, VERDICT, verdict)
        finally:
            os._exit(0)

    def _wait_for_ended(self) -> list[tuple[int, ForkResult]]:
        """Those that have come to an end; [] where none did for a moment."""
        handles = {item.pidfd: item for item in self._running.values() if item.pidfd is not None}
        pause_s = _POLL_SECONDS if len(handles) == len(self._running) else _POLL_SECONDS / 20
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
        """Whether it has used more than it may for the step that it is at."""
        before = item.step
        _read_messages(item)
        now = time.monotonic()
        bounds = item.task.step_limits(item.step)
        state = measure_cpu(item.pid)
        if state is None:  # no /proc: the clock alone, generously
            item.step_started_at = now if item.step != before else item.step_started_at
            return now - item.step_started_at > 4 * bounds.cpu_s + bounds.idle_s
        cpu, awake = state
        if item.step != before:
            item.cpu_at_step, item.idle_since = item.cpu, now
        if awake or cpu > item.cpu:
            item.idle_since = now
        item.cpu = max(cpu, item.cpu)
        return item.cpu - item.cpu_at_step > bounds.cpu_s or now - item.idle_since > bounds.idle_s

    def _kill_and_reap(self, item: _Fork, ending: str = "") -> ForkResult:
        """Ends a fork with its process group and what has left that; what it had to say."""
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
        late = "timeout" if code == -signal.SIGPROF and item.has_started else ""
        ending = ending or late or ("crashed" if item.has_started else "error")
        return ForkResult(ending, "", item.step, code, tuple(item.notes))

    def _kill_orphans(self) -> None:
        """Orphans that came to us, the subreaper: what a fork started and let go."""
        for _ in range(20):
            own = {item.pid for item in self._running.values()}
            strays = set(list_children(os.getpid())) - own - self._existing_children
            if not strays:
                return
            for pid in strays:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)


def _open_pidfd(pid: int) -> int | None:
    """A descriptor that tells of a process's end; None where the kernel has none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _read_messages(item: _Fork) -> None:
    """Takes in what the fork has reported; what makes no sense is left out."""
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
