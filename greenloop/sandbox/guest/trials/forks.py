"""Fork of this process with limits, which is killed at its end with all its descendants.

A fork reports its steps, values and one verdict through a pipe. A fork that ends without a verdict
has crashed; an end before its first step is an error of the guest.
"""

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from ..isolation import syscalls as k
from ..limits.proc_stats import list_children, measure_cpu

_STEP, _VALUE, _VERDICT = b"s", b"n", b"v"
_POLL_SECONDS, _MAX_TIMER_SECONDS = 0.05, 1e6
_MAX_VALUES, _MAX_BYTES, _NO_STEP = 100_000, 64 << 20, -2


class StepLimits(NamedTuple):
    """Limits of one step: seconds of CPU time, and seconds without any activity."""

    cpu_s: float
    idle_s: float


GetLimits = Callable[[int], StepLimits]


class ForkResult(NamedTuple):
    """`ending` is `verdict`, `timeout`, `crashed`, `error` (of the guest) or `not_run` (no time)."""

    ending: str
    verdict: Any = None
    step: int = _NO_STEP
    values: tuple[Any, ...] = ()


class Reporter:
    """Reporter, in a fork, to the process that started it.

    A kernel timer ends the fork when the CPU time of a step is used up. The other process also
    checks, in case code stops the timer, but reacts late on a busy machine.
    """

    def __init__(self, pipe: int, get_limits: GetLimits) -> None:
        self._pipe, self._get_limits, self._process = pipe, get_limits, os.getpid()

    def begin(self, step: int) -> None:
        """Report that a step begins."""
        self._write(_STEP, str(step))
        cpu_s = min(self._get_limits(step).cpu_s, _MAX_TIMER_SECONDS)
        signal.setitimer(signal.ITIMER_PROF, cpu_s)

    def send(self, value: Any) -> None:
        """Report a value, which counts even if the fork does not finish."""
        self._write(_VALUE, json.dumps(value))

    def finish(self, verdict: Any) -> None:
        """Report the verdict and exit."""
        if os.getpid() == self._process:  # not a fork that the code under test made
            self._write(_VERDICT, json.dumps(verdict))
        os._exit(0)

    def close(self) -> None:
        """In a fork of the fork: close the pipe."""
        os.close(self._pipe)

    def fail(self, error: BaseException) -> None:
        """Exit without a verdict."""
        with suppress(OSError):
            os.write(2, f"{type(error).__name__}: {error}\n".encode("utf-8", "replace")[:2000])
        os._exit(1)

    def _write(self, kind: bytes, text: str) -> None:
        line = kind + text.encode() + b"\n"
        while line:
            line = line[os.write(self._pipe, line) :]


class Fork:
    """Handle of one fork, in the process that started it."""

    def __init__(self, pid: int, pipe: int, get_limits: GetLimits, others: set[int]) -> None:
        self.pid, self._pipe, self._get_limits, self._others = pid, pipe, get_limits, others
        self._pidfd = _open_pidfd(pid)
        self._unparsed, self._values, self._verdict = b"", list[Any](), None
        self._has_verdict, self._step, self._byte_count = False, _NO_STEP, 0
        self._cpu = self._cpu_at_step = 0.0
        self._active_at = self._step_at = time.monotonic()

    def wait(self, is_late: Callable[[], bool]) -> ForkResult:
        """Wait for the end until a limit is exceeded or `is_late`; kill what is left."""
        handles = [] if self._pidfd is None else [self._pidfd]
        pause_s, ending = _POLL_SECONDS if handles else _POLL_SECONDS / 20, ""
        while not ending and not self._has_ended():
            select.select(handles, [], [], pause_s)
            before = self._step
            self._read()
            if is_late():
                ending = "not_run"
            elif self._exceeds_limits(self._step != before):
                ending = "timeout"
        return self._finish(ending)

    def receive(self, deadline: float) -> Any:
        """Return the next value; None if the fork or the time ends before there is one."""
        while not self._values and time.monotonic() < deadline:
            ready = select.select([self._pipe], [], [], _POLL_SECONDS)[0]
            if ready and not self._read():
                break
        return self._values.pop(0) if self._values else None

    def close(self) -> None:
        """In another fork: close the pipe of this one."""
        os.close(self._pipe)

    def kill(self) -> None:
        """End the fork now."""
        self._finish("")

    def _has_ended(self) -> bool:
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _exceeds_limits(self, is_new_step: bool) -> bool:
        now = time.monotonic()
        limits = self._get_limits(self._step)
        if is_new_step:
            self._step_at = self._active_at = now
            self._cpu_at_step = -1.0
            return False
        if now - self._step_at < min(limits):  # too early even for one busy processor
            return False
        state = measure_cpu(self.pid)
        if state is None:  # no /proc: elapsed time, with a generous limit
            return now - self._step_at > 4 * limits.cpu_s + limits.idle_s
        cpu, is_active = state
        if self._cpu_at_step < 0:  # time used before may be that of earlier steps
            self._cpu_at_step = cpu
        if is_active or cpu > self._cpu:
            self._active_at = now
        self._cpu = max(cpu, self._cpu)
        used_s, idle_s = self._cpu - self._cpu_at_step, now - self._active_at
        return used_s > limits.cpu_s or idle_s > limits.idle_s

    def _finish(self, ending: str) -> ForkResult:
        for kill in (os.killpg, os.kill):
            with suppress(OSError):
                kill(self.pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        kill_children_except(self._others)
        while self._read():
            pass
        os.close(self._pipe)
        if self._pidfd is not None:
            os.close(self._pidfd)
        if not ending:
            has_started = self._step != _NO_STEP
            late = "timeout" if code == -signal.SIGPROF and has_started else ""
            crashed = "crashed" if has_started else "error"
            ending = "verdict" if self._has_verdict else late or crashed
        return ForkResult(ending, self._verdict, self._step, tuple(self._values))

    def _read(self) -> bool:
        """Read reports, ignoring invalid ones; return False at the end."""
        try:
            data = os.read(self._pipe, 65536)
        except OSError:
            return False
        self._byte_count += len(data)
        *lines, self._unparsed = (self._unparsed + data).split(b"\n")
        if self._byte_count < _MAX_BYTES:
            for line in lines:
                with suppress(ValueError, RecursionError):
                    self._accept(line[:1], line[1:])
        return bool(data)

    def _accept(self, kind: bytes, rest: bytes) -> None:
        if kind == _STEP:
            self._step = int(rest[:10])
        elif kind == _VALUE and len(self._values) < _MAX_VALUES:
            self._values.append(json.loads(rest))
        elif kind == _VERDICT:
            self._verdict, self._has_verdict = json.loads(rest), True


def start_fork(get_limits: GetLimits) -> Fork | Reporter:
    """Fork this process; return a `Reporter` in the fork, a `Fork` in this process."""
    others = set(list_children(os.getpid()))
    receive, send = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(receive)
        with suppress(OSError):
            os.setpgid(0, 0)
        set_parent_death_signal()
        return Reporter(send, get_limits)
    os.close(send)
    with suppress(OSError):
        os.setpgid(pid, pid)
    os.set_blocking(receive, False)
    return Fork(pid, receive, get_limits, others)


def kill_children_except(others: set[int]) -> None:
    """Kill processes that a fork left behind, which are now children of this subreaper."""
    for _ in range(20):
        orphans = set(list_children(os.getpid())) - others
        if not orphans:
            return
        for pid in orphans:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def become_subreaper() -> None:
    """Make orphaned descendants children of this process, so that it can kill them."""
    if sys.platform == "linux":
        k.prctl(k.PR_SET_CHILD_SUBREAPER, 1)


def set_parent_death_signal() -> None:
    """Kill this process when its parent ends (Linux only)."""
    if sys.platform == "linux":
        k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)


def _open_pidfd(pid: int) -> int | None:
    """Return a descriptor that is readable when a process ends; None if not supported."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None
