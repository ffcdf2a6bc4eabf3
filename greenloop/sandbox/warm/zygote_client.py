"""Clients of the zygotes: they start runs, and replace zygote processes that are dead or old."""

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from greenloop.errors import SandboxError
from greenloop.sandbox.backends.mounts import GuestMounts
from greenloop.sandbox.backends.namespaces import Backend
from greenloop.sandbox.guest.protocol.framing import send_frame
from greenloop.sandbox.process_result import (
    ProcessResult,
    receive_head,
    receive_report,
)
from greenloop.sandbox.warm.zygote_process import ZygoteProcess

_GRACE_SECONDS = 15.0
_MAX_RUNS = 2000  # per process, in case something accumulates in it
_MAX_ATTEMPTS = 2
_MAX_ACTIVE = 6  # each is a Python process


class ZygoteClient:
    """Client of one zygote, whose process is replaced if necessary. Thread-safe."""

    def __init__(self, backend: Backend, mounts: GuestMounts) -> None:
        self._backend, self._mounts, self._lock = backend, mounts, threading.Lock()
        self._backend_name = backend.name
        self._process: ZygoteProcess | None = None
        self._is_closed = False
        # The kernel ends the namespaces with the *thread* that started them, so this one is kept.
        self._starter_thread = ThreadPoolExecutor(1, "zygote")

    def run(
        self,
        payload: bytes,
        limits: bytes,
        timeout_s: float,
        stop: threading.Event,
        on_progress: Callable[[int], None] | None = None,
        artifact_request: dict[str, Any] | None = None,
    ) -> ProcessResult:
        """Run one job in a fork of the zygote; job and limits are JSON. Raises SandboxError.

        `stop` ends the run as `interrupted`. `on_progress` is called with the number of finished tests or mutants, `artifact_request`
        selects the created files to return.
        """
        started, patience_s = time.monotonic(), timeout_s + _GRACE_SECONDS
        for is_last in (False, True):
            begun = self._clone(limits, stop)
            if begun is None:
                return ProcessResult.without_report("interrupted", started)
            process, connection = begun
            started = time.monotonic()
            try:
                connection.settimeout(patience_s)
                send_frame(connection, payload)
                head = receive_head(connection, started, stop, patience_s, on_progress)
                if isinstance(head, ProcessResult):
                    return head
                return receive_report(
                    connection, self._backend_name, started, head, artifact_request
                )
            except (OSError, EOFError, ValueError):
                if stop.is_set():
                    return ProcessResult.without_report("interrupted", started)
                if is_last or not process.is_dying():
                    break
            finally:
                connection.close()
                self._release(process)
        output = b"the supervisor of the run ended without a report"
        return ProcessResult.without_report("crashed", started, output)

    def _clone(
        self, limits: bytes, stop: threading.Event
    ) -> tuple[ZygoteProcess, socket.socket] | None:
        """Return a zygote process and the socket of a new fork of it; None if `stop` is set."""
        for _ in range(_MAX_ATTEMPTS):
            process = self._reserve_process()
            try:
                connection = process.clone(limits, stop)
            except BaseException as error:  # also Ctrl-C during the start
                reason = process.last_error_line()
                self._release(process, is_usable=False)
                if not isinstance(error, OSError):
                    raise
            else:
                if connection is not None:
                    return process, connection
                self._release(process)
                return None
        raise SandboxError(f"{self._backend_name}: the zygote ends at once: {reason}")

    def _reserve_process(self) -> ZygoteProcess:
        """Return a process that is not ended before it is released."""
        with self._lock:
            if self._process and (self._process.is_dead() or self._process.runs >= _MAX_RUNS):
                self._retire()
            process = self._process = self._process or self._start_process()
            process.runs += 1
            process.active_runs += 1
            return process

    def _release(self, process: ZygoteProcess, *, is_usable: bool = True) -> None:
        with self._lock:
            process.active_runs -= 1
            if not is_usable and process is self._process:
                self._process = None
            if process is not self._process and not process.active_runs:
                process.end()

    def _start_process(self) -> ZygoteProcess:
        if self._is_closed:
            raise SandboxError(f"{self._backend_name}: the sandbox is closed")
        return self._starter_thread.submit(ZygoteProcess, self._backend, self._mounts).result()

    def _retire(self) -> None:
        """Give the process no further runs; end it after the runs in progress."""
        old, self._process = self._process, None
        if old and not old.active_runs:
            old.end()

    def retire_when_idle(self) -> None:
        """End the process after the runs in progress; the next run starts a new one."""
        with self._lock:
            self._retire()

    def close(self) -> None:
        """End the process with everything that runs in it."""
        with self._lock:
            self._is_closed = True
            process, self._process = self._process, None
            if process is not None:
                process.end()
            self._starter_thread.shutdown(wait=False)


class ZygotePool:
    """Pool of zygotes, of which the most recently used keep running. Thread-safe.

    A zygote that is retired finishes its runs; its process is started again when it is needed.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend, self._lock = backend, threading.Lock()
        self._zygotes: dict[GuestMounts, ZygoteClient] = {}  # the most recently used last
        self._is_closed = False

    def get(self, mounts: GuestMounts) -> ZygoteClient:
        """Return the zygote with these mounts. Raises SandboxError if the pool is closed."""
        with self._lock:
            if self._is_closed:
                raise SandboxError(f"{self._backend.name}: the sandbox is closed")
            zygote = self._zygotes.pop(mounts, None) or ZygoteClient(self._backend, mounts)
            self._zygotes[mounts] = zygote
            retired = list(self._zygotes.values())[:-_MAX_ACTIVE]
        for item in retired:
            item.retire_when_idle()
        return zygote

    def close(self) -> None:
        """End all zygotes, with everything that runs in them."""
        with self._lock:
            self._is_closed = True
        for item in self._zygotes.values():
            item.close()
