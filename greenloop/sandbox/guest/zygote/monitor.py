"""The supervisor's eye on a run: its end, its time, what it writes, what it uses."""

from __future__ import annotations

import os
import select
import time
from typing import Protocol

from ..limits.namespace_usage import Usage
from ..limits.process_usage import Footprint
from ..protocol import stack_dump

_TICK_MS, _LONGEST_MS = 5.0, 50.0
_MUCH = 32768


class Caller(Protocol):
    """The way to the host, of which one has to know only whether it is still there."""

    def fileno(self) -> int: ...


class Written(Protocol):
    """What takes in what a run writes; see `Streams`."""

    def read(self, handle: int, name: str) -> bool | None: ...

    def count(self) -> int: ...


class Watch:
    """Waits for a process. What it writes is read at ticks: being woken by each line costs both."""

    def __init__(
        self, run: Caller, child: int, streams: Written, handles: tuple[int, int, int, int]
    ) -> None:
        """`handles`: where its output, its errors where they come apart from that, and its results
        come, and where it is; `run`: the caller, who may go away."""
        self._run, self._child, self._streams = run, child, streams
        output, errors, result, self._where = handles
        self._open = {output: "output", errors: "errors", result: "result"}
        self._poll, self._alive = select.poll(), os.pidfd_open(child)
        self._poll.register(self._alive, select.POLLIN)
        self._poll.register(run, select.POLLIN | select.POLLHUP)
        for handle in self._open:
            os.set_blocking(handle, False)

    def until_the_end(self, seconds: float, usage: Usage | Footprint) -> str:
        """How the waiting ended: finished, interrupted, timeout, output, or a limit's name."""
        deadline = time.monotonic() + seconds
        tick_ms = _TICK_MS
        while True:
            for handle, _ in self._poll.poll(tick_ms):
                return "finished" if handle == self._alive else "interrupted"
            count = self._streams.count()
            if not self.drain():
                return "output"
            tick_ms = _next_tick(tick_ms, self._streams.count() - count)
            if time.monotonic() > deadline:
                self._ask_where()
                return "timeout"
            if over := usage.too_much():
                return over

    def _ask_where(self) -> None:
        """What comes after the question, woken by the signal perhaps, is no result."""
        stack_dump.ask(self._child, self._where)
        self._open = {handle: name for handle, name in self._open.items() if name != "result"}

    def ended_well(self) -> bool:
        """Whether it has exited with status 0; it is not cleared away by this."""
        ended = os.waitid(os.P_PID, self._child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return ended is not None and ended.si_code == os.CLD_EXITED and ended.si_status == 0

    def drain(self) -> bool:
        """Reads what is there; False where it is too much."""
        return all(self._drained(handle) for handle in list(self._open))

    def _drained(self, handle: int) -> bool:
        for _ in range(64):
            try:
                is_within = self._streams.read(handle, self._open[handle])
            except BlockingIOError:
                return True
            if is_within is None:
                del self._open[handle]
                return True
            if not is_within:
                return False
        return True

    def close(self) -> None:
        os.close(self._alive)


def _next_tick(last_ms: float, came: int) -> float:
    """Soon after much has come, as a full pipe stops its writer; later while nothing comes."""
    if came > _MUCH:
        return 0.0
    return _TICK_MS if came else min(max(last_ms, _TICK_MS) * 1.5, _LONGEST_MS)
