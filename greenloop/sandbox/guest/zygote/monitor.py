"""Monitor of a run: its end, its elapsed time, its output, its resource usage."""

import os
import select
import time
from collections.abc import Callable

from ..limits.usage import ResourceUsage
from ..protocol import stack_dump
from ..protocol.output_buffers import OutputBuffers

_TICK_MS, _MAX_TICK_MS = 5.0, 50.0
_BUSY_BYTES = 32768
_PROGRESS_SECONDS = 0.2


class RunMonitor:
    """Monitor that polls the output of a process, because waking for each line is slower."""

    def __init__(
        self,
        host_fd: int,
        child: int,
        streams: OutputBuffers,
        handles: tuple[int, int, int, int],
    ) -> None:
        """`host_fd` becomes readable if the host ends; `handles`: output, errors, reports, dump."""
        self._child, self._streams = child, streams
        output, errors, result, self._stack_dump = handles
        self._open_streams = {output: "output", errors: "errors", result: "result"}
        self._poll, self._pidfd = select.poll(), os.pidfd_open(child)
        self._poll.register(self._pidfd, select.POLLIN)
        self._poll.register(host_fd, select.POLLIN | select.POLLHUP)
        for handle in self._open_streams:
            os.set_blocking(handle, False)

    def wait(
        self,
        timeout_s: float,
        usage: ResourceUsage,
        send_progress: Callable[[int], None] | None = None,
    ) -> str:
        """Wait; return `finished`, `interrupted`, `timeout`, `output` or an exceeded limit.

        `send_progress` is called with the number of finished tests or mutants if it has grown.
        """
        deadline = time.monotonic() + timeout_s
        sent, next_progress_at = 0, time.monotonic() + _PROGRESS_SECONDS
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
            if send_progress and time.monotonic() > next_progress_at:
                next_progress_at = time.monotonic() + _PROGRESS_SECONDS
                if (done := self._streams.count_items()) > sent:
                    sent = done
                    send_progress(done)

    def _request_stack_dump(self) -> None:
        """Request a stack dump; ignore later reports, as the signal may have woken code."""
        stack_dump.request_stack_dump(self._child, self._stack_dump)
        self._open_streams = {
            handle: name for handle, name in self._open_streams.items() if name != "result"
        }

    def has_exited_cleanly(self) -> bool:
        """Return whether the process has exited with status 0, without reaping it."""
        ended = os.waitid(os.P_PID, self._child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return ended is not None and ended.si_code == os.CLD_EXITED and ended.si_status == 0

    def drain(self) -> bool:
        """Read all available output; False if an output limit is exceeded."""
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
        """Close the descriptor of the process."""
        os.close(self._pidfd)


def _next_tick(last_ms: float, received_bytes: int) -> float:
    """Return the wait in ms: 0 after much output (a full pipe blocks), growing without output."""
    if received_bytes > _BUSY_BYTES:
        return 0.0
    return _TICK_MS if received_bytes else min(max(last_ms, _TICK_MS) * 1.5, _MAX_TICK_MS)
