"""The supervisor's eye on a run: its end, its time, what it writes, what it uses."""

from __future__ import annotations

import os
import select
import time
from typing import Protocol

from ..limits.namespace_usage import NamespaceUsage
from ..limits.process_usage import ProcessUsage
from ..protocol import stack_dump

_TICK_MS, _MAX_TICK_MS = 5.0, 50.0
_BUSY_BYTES = 32768


class Caller(Protocol):
    """The way to the host, of which one has to know only whether it is still there."""

    def fileno(self) -> int: ...


class OutputSink(Protocol):
    """What takes in what a run writes; see `Streams`."""

    def read(self, handle: int, name: str) -> bool | None: ...

    def count_bytes(self) -> int: ...


class RunMonitor:
    """Waits for a process. What it writes is read at ticks: being woken by each line costs both."""

    def __init__(
        self, run: Caller, child: int, streams: OutputSink, handles: tuple[int, int, int, int]
    ) -> None:
        """`handles`: where its output, its errors where they come apart from that, and its results
        come, and where it is; `run`: the caller, who may go away."""
        self._run, self._child, self._streams = run, child, streams
        output, errors, result, self._stack_dump = handles
        self._open_streams = {output: "output", errors: "errors", result: "result"}
        self._poll, self._pidfd = select.poll(), os.pidfd_open(child)
        self._poll.register(self._pidfd, select.POLLIN)
        self._poll.register(run, select.POLLIN | select.POLLHUP)
        for handle in self._open_streams:
            os.set_blocking(handle, False)

    def wait(self, timeout_s: float, usage: NamespaceUsage | ProcessUsage) -> str:
        """How the waiting ended: finished, interrupted, timeout, output, or a limit's name."""
        deadline = time.monotonic() + timeout_s
        tick_ms = _TICK_MS
        while True:
            for handle, _ in self._poll.poll(tick_ms):
                return "finished" if handle == self._pidfd else "interrupted"
            count = self._streams.count_bytes()
            if not self.drain():
                return "output"
            tick_ms = _next_tick(tick_ms, self._streams.count_bytes() - count)
            if time.monotonic() > deadline:
                self._request_stack_dump()
                return "timeout"
            if over := usage.check_limits():
                return over

    def _request_stack_dump(self) -> None:
        """What comes after the question, woken by the signal perhaps, is no result."""
        stack_dump.request_stack_dump(self._child, self._stack_dump)
        self._open_streams = {
            handle: name for handle, name in self._open_streams.items() if name != "result"
        }

    def has_exited_cleanly(self) -> bool:
        """Whether it has exited with status 0; it is not cleared away by this."""
        ended = os.waitid(os.P_PID, self._child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return ended is not None and ended.si_code == os.CLD_EXITED and ended.si_status == 0

    def drain(self) -> bool:
        """Reads what is there; False where it is too much."""
        return all(self._drain_stream(handle) for handle in list(self._open_streams))

    def _drain_stream(self, handle: int) -> bool:
        for _ in range(64):
            try:
                is_within = self._streams.read(handle, self._open_streams[handle])
            except BlockingIOError:
                return True
            if is_within is None:
                del self._open_streams[handle]
                return True
            if not is_within:
                return False
        return True

    def close(self) -> None:
        os.close(self._pidfd)


def _next_tick(last_ms: float, received_bytes: int) -> float:
    """Soon after much has come, as a full pipe stops its writer; later while nothing comes."""
    if received_bytes > _BUSY_BYTES:
        return 0.0
    return _TICK_MS if received_bytes else min(max(last_ms, _TICK_MS) * 1.5, _MAX_TICK_MS)
