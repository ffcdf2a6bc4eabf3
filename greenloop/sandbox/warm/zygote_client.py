"""The host's side of zygotes: handing them runs, starting a new one when one has died or is old."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from greenloop.errors import SandboxError
from greenloop.records import Ending
from greenloop.sandbox.backends.mounts import GuestMounts
from greenloop.sandbox.backends.namespaces import Backend
from greenloop.sandbox.guest.protocol.framing import receive_frame, send_frame
from greenloop.sandbox.process_result import ProcessResult, ScriptArtifacts
from greenloop.sandbox.warm.zygote_process import ZygoteProcess

_GRACE_SECONDS, _POLL_SECONDS = 15.0, 0.05
_MAX_RUNS = 2000  # then a new one is started: whatever might grow in it does not grow for ever
_MAX_ATTEMPTS = 2
_MAX_FRAME_BYTES = 64 << 20
ENDINGS = ("finished", "timeout", "memory", "processes", "disk", "output", "interrupted")


class ZygoteClient:
    """The zygote of one wall, whichever process that is just now. Usable from several threads."""

    def __init__(self, backend: Backend, mounts: GuestMounts) -> None:
        self._backend, self._mounts, self._lock = backend, mounts, threading.Lock()
        self._process: ZygoteProcess | None = None
        # The kernel ends a wall together with the *thread* that started it, so one stays for that.
        self._starter_thread = ThreadPoolExecutor(1, "zygote")

    def run(
        self,
        payload: bytes,
        limits: bytes,
        timeout_s: float,
        stop: threading.Event,
        second_payload: bytes | None = None,
        serve: Callable[[socket.socket], None] | None = None,
    ) -> ProcessResult:
        """One run; `job` and `limits` are JSON, `then` what is told when the job's first process
        stands, `serve` gets a socket that listens inside the run's network, where the job asks for
        one. Raises SandboxError where it cannot be begun.
        """
        started = time.monotonic()
        for last in (False, True):
            with self._start_run(limits, stop) as handed_over:
                if handed_over is None:
                    return ProcessResult("interrupted", -9, b"", b"", time.monotonic() - started)
                living, ours = handed_over
                started = time.monotonic()
                try:
                    ours.settimeout(timeout_s + _GRACE_SECONDS)
                    send_frame(ours, payload)
                    if second_payload is not None:
                        send_frame(ours, second_payload)
                    if serve is not None:
                        serve(_receive_listener(ours))
                    return self._receive_result(ours, started, timeout_s + _GRACE_SECONDS, stop)
                except (OSError, EOFError, ValueError):
                    if stop.is_set():
                        return ProcessResult(
                            "interrupted", -9, b"", b"", time.monotonic() - started
                        )
                    if last or not living.is_dying():
                        break
        words = b"the run's supervisor is gone without a report"
        return ProcessResult("crashed", -9, words, b"", time.monotonic() - started)

    @contextlib.contextmanager
    def _start_run(
        self, limits: bytes, stop: threading.Event
    ) -> Iterator[tuple[ZygoteProcess, socket.socket] | None]:
        """A zygote and our end of a new run's socket; the other end is with a fresh clone of it.

        None where `stop` came before.
        """
        with self._lock:
            cloned = self._clone(limits, stop)
            if cloned is not None:
                cloned[0].active_runs += 1
        if cloned is None:
            yield None
            return
        living, ours = cloned
        try:
            with ours:
                yield living, ours
        finally:
            with self._lock:
                living.active_runs -= 1
                if living is not self._process and not living.active_runs:
                    living.end()

    def _clone(
        self, limits: bytes, stop: threading.Event
    ) -> tuple[ZygoteProcess, socket.socket] | None:
        for _ in range(_MAX_ATTEMPTS):
            living = self._get_process(stop)
            if living is None:
                return None
            try:
                return living, living.clone(limits)
            except OSError:
                words = living.last_error_line()
                self._retire()
        raise SandboxError(f"{self._backend.info.backend}: it dies at once: {words}")

    def _get_process(self, stop: threading.Event) -> ZygoteProcess | None:
        if self._process and (self._process.is_dead() or self._process.runs >= _MAX_RUNS):
            self._retire()
        if self._process is None:
            self._process = self._start_process(stop)
        return self._process

    def _start_process(self, stop: threading.Event) -> ZygoteProcess | None:
        living = self._starter_thread.submit(ZygoteProcess, self._backend, self._mounts).result()
        try:
            while not living.poll_ready(_POLL_SECONDS):
                if stop.is_set():
                    living.end()
                    return None
        except BaseException:  # Ctrl-C while it starts, or it cannot
            living.end()
            raise
        return living

    def _retire(self) -> None:
        """No new runs for it; those that it has come to their end first."""
        old, self._process = self._process, None
        if old and not old.active_runs:
            old.end()

    def _receive_result(
        self, connection: socket.socket, started: float, timeout_s: float, stop: threading.Event
    ) -> ProcessResult:
        """The run's three frames: how it ended, its output, its side channel."""
        while not select.select([connection], [], [], _POLL_SECONDS)[0]:
            if stop.is_set():
                return ProcessResult("interrupted", -9, b"", b"", time.monotonic() - started)
            if time.monotonic() - started > timeout_s:
                return ProcessResult("timeout", -9, b"", b"", time.monotonic() - started)
        said = json.loads(receive_frame(connection, _MAX_FRAME_BYTES))
        if "trouble" in said:
            raise SandboxError(f"{self._backend.info.backend}: {said['trouble']}")
        output, result = (receive_frame(connection, _MAX_FRAME_BYTES) for _ in range(2))
        rest = (
            ScriptArtifacts.from_stream(connection, said["cut"])
            if "cut" in said
            else ScriptArtifacts()
        )
        ending: Ending = said["ending"] if said["ending"] in ENDINGS else "crashed"
        seconds = time.monotonic() - started
        status, where = int(said["status"]), str(said.get("where", ""))
        return ProcessResult(
            ending, status, output, result, seconds, tuple(said["hit"]), where, rest
        )

    def retire_when_idle(self) -> None:
        """Lets it end when its last run has; the next run starts a new one."""
        with self._lock:
            self._retire()

    def close(self) -> None:
        """Ends it with all that runs in it."""
        with self._lock:
            living, self._process = self._process, None
            if living is not None:
                living.end()
            self._starter_thread.shutdown(wait=False)


def _receive_listener(connection: socket.socket) -> socket.socket:
    """The socket that the run's supervisor hands out. Raises OSError where none comes."""
    connection.settimeout(_GRACE_SECONDS)
    _, handles, _, _ = socket.recv_fds(connection, 1, 1)
    if not handles:
        raise OSError("no socket was handed out")
    return socket.socket(fileno=handles[0])
