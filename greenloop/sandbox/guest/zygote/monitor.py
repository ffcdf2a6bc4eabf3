"""Monitor of a run: its end, its elapsed time, its output, its resource usage; its report."""

import contextlib
import json
import os
import select
import signal
import time
from collections.abc import Callable
from typing import Any, Protocol

from ..files.collector import collect_created_files
from ..limits.usage import ResourceUsage
from ..protocol import stack_dump
from ..protocol.framing import MessageStream, receive_frame, send_frame, send_pieces
from ..protocol.output_buffers import OutputBuffers
from .file_descriptors import GuestPipes

_TICK_MS, _MAX_TICK_MS = 5.0, 50.0
_BUSY_BYTES = 32768
_PROGRESS_SECONDS = 0.2
_MAX_REQUEST_BYTES = 64 << 20


class HostStream(MessageStream, Protocol):
    """Connection to the host, which can be polled."""

    def fileno(self) -> int: ...


def watch_run(
    host: HostStream,
    child: int,
    pipes: GuestPipes,
    streams: OutputBuffers,
    usage: ResourceUsage,
    limits: dict[str, int],
) -> dict[str, Any]:
    """Watch a run to its end, kill all of its processes, and return the head of its report."""

    def send_progress(done: int) -> None:
        with contextlib.suppress(OSError):  # the host is gone, as the monitor will see
            send_frame(host, json.dumps({"done": done}).encode())

    monitor = RunMonitor(host.fileno(), child, streams, pipes)
    ending = monitor.wait(limits["wall_ms"] / 1000, usage, send_progress)
    if not monitor.has_exited_cleanly():
        usage.measure_final()
    status, peak_bytes, cpu_s = _kill_all_and_reap(child)
    monitor.drain()
    monitor.close()
    if ending == "timeout":
        streams.read_stack_dump(pipes.stack_dump)
    head = {"ending": ending, "status": status, "cpu_s": cpu_s}
    hit, cut = usage.list_reached_limits(peak_bytes), streams.list_truncated_streams()
    return {**head, "hit": hit, "cut": cut}


def send_report(host: MessageStream, head: dict[str, Any], streams: OutputBuffers) -> None:
    """Send the head, the output, the reports and the stack dump of a run."""
    send_frame(host, json.dumps(head).encode())
    for pieces in streams.pieces():
        send_pieces(host, pieces)


def send_artifacts(host: MessageStream, streams: OutputBuffers, work: str) -> None:
    """Receive the host's request for files in `work`; send standard error and these files.

    The request comes after the run, which could read it before.
    """
    request = json.loads(receive_frame(host, _MAX_REQUEST_BYTES))
    send_pieces(host, streams.error_pieces())
    found = collect_created_files(work, request)
    for part in (json.dumps(found.to_summary()).encode(), bytes(found.contents)):
        send_frame(host, part)


def _kill_all_and_reap(child: int) -> tuple[int, int, float]:
    """Kill all processes that could still write reports.

    Pid 1 kills and adopts all others; without namespaces there is a single process. Return the
    child's exit status, peak memory in bytes and CPU seconds.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(-1 if os.getpid() == 1 else child, signal.SIGKILL)
    found = -signal.SIGKILL, 0, 0.0
    with contextlib.suppress(ChildProcessError):  # no child is left
        while True:
            pid, status, used = os.wait4(-1, 0)
            if pid == child:
                code, cpu_s = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
                found = code, used.ru_maxrss * 1024, cpu_s
    return found


class RunMonitor:
    """Monitor that polls the output of a process, because waking for each line is slower."""

    def __init__(self, host_fd: int, child: int, streams: OutputBuffers, pipes: GuestPipes) -> None:
        """`host_fd` becomes readable if the host ends."""
        self._child, self._streams, self._stack_dump = child, streams, pipes.stack_dump
        names = {pipes.output: "output", pipes.errors: "errors", pipes.result: "result"}
        self._open_streams = names
        self._poll, self._pidfd = select.poll(), os.pidfd_open(child)
        self._poll.register(self._pidfd, select.POLLIN)
        self._poll.register(host_fd, select.POLLIN | select.POLLHUP)
        for handle in self._open_streams:
            os.set_blocking(handle, False)

    def wait(
        self, timeout_s: float, usage: ResourceUsage, send_progress: Callable[[int], None]
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
            if time.monotonic() > next_progress_at:
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
