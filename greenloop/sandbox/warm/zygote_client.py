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
from greenloop.sandbox.backends.mounts import Visible
from greenloop.sandbox.backends.namespaces import Wall
from greenloop.sandbox.guest.protocol.framing import receive_frame, send_frame
from greenloop.sandbox.process_result import Ended, Left
from greenloop.sandbox.warm.zygote_process import Living

_GRACE_S, _POLL_S = 15.0, 0.05
_MOST_RUNS = 2000  # then a new one is started: whatever might grow in it does not grow for ever
_TRIES = 2
_FRAME_BYTES = 64 << 20
ENDINGS = ("finished", "timeout", "memory", "processes", "disk", "output", "interrupted")


class Zygote:
    """The zygote of one wall, whichever process that is just now. Usable from several threads."""

    def __init__(self, wall: Wall, seen: Visible) -> None:
        self._wall, self._seen, self._lock = wall, seen, threading.Lock()
        self._living: Living | None = None
        # The kernel ends a wall together with the *thread* that started it, so one stays for that.
        self._starter = ThreadPoolExecutor(1, "zygote")

    def run(
        self,
        job: bytes,
        limits: bytes,
        timeout_s: float,
        stop: threading.Event,
        then: bytes | None = None,
        serve: Callable[[socket.socket], None] | None = None,
    ) -> Ended:
        """One run; `job` and `limits` are JSON, `then` what is told when the job's first process
        stands, `serve` gets a socket that listens inside the run's network, where the job asks for
        one. Raises SandboxError where it cannot be begun.
        """
        started = time.monotonic()
        for last in (False, True):
            with self._handed_over(limits, stop) as handed_over:
                if handed_over is None:
                    return Ended("interrupted", -9, b"", b"", time.monotonic() - started)
                living, ours = handed_over
                started = time.monotonic()
                try:
                    ours.settimeout(timeout_s + _GRACE_S)
                    send_frame(ours, job)
                    if then is not None:
                        send_frame(ours, then)
                    if serve is not None:
                        serve(_listener(ours))
                    return self._report(ours, started, timeout_s + _GRACE_S, stop)
                except (OSError, EOFError, ValueError):
                    if stop.is_set():
                        return Ended("interrupted", -9, b"", b"", time.monotonic() - started)
                    if last or not living.is_dying():
                        break
        words = b"the run's supervisor is gone without a report"
        return Ended("crashed", -9, words, b"", time.monotonic() - started)

    @contextlib.contextmanager
    def _handed_over(
        self, limits: bytes, stop: threading.Event
    ) -> Iterator[tuple[Living, socket.socket] | None]:
        """A zygote and our end of a new run's socket; the other end is with a fresh clone of it.

        None where `stop` came before.
        """
        with self._lock:
            cloned = self._clone(limits, stop)
            if cloned is not None:
                cloned[0].users += 1
        if cloned is None:
            yield None
            return
        living, ours = cloned
        try:
            with ours:
                yield living, ours
        finally:
            with self._lock:
                living.users -= 1
                if living is not self._living and not living.users:
                    living.end()

    def _clone(self, limits: bytes, stop: threading.Event) -> tuple[Living, socket.socket] | None:
        for _ in range(_TRIES):
            living = self._current(stop)
            if living is None:
                return None
            try:
                return living, living.clone(limits)
            except OSError:
                words = living.last_words()
                self._retire()
        raise SandboxError(f"{self._wall.info.backend}: it dies at once: {words}")

    def _current(self, stop: threading.Event) -> Living | None:
        if self._living and (self._living.is_dead() or self._living.runs >= _MOST_RUNS):
            self._retire()
        if self._living is None:
            self._living = self._started(stop)
        return self._living

    def _started(self, stop: threading.Event) -> Living | None:
        living = self._starter.submit(Living, self._wall, self._seen).result()
        try:
            while not living.is_ready(_POLL_S):
                if stop.is_set():
                    living.end()
                    return None
        except BaseException:  # Ctrl-C while it starts, or it cannot
            living.end()
            raise
        return living

    def _retire(self) -> None:
        """No new runs for it; those that it has come to their end first."""
        old, self._living = self._living, None
        if old and not old.users:
            old.end()

    def _report(
        self, ours: socket.socket, started: float, patience_s: float, stop: threading.Event
    ) -> Ended:
        """The run's three frames: how it ended, its output, its side channel."""
        while not select.select([ours], [], [], _POLL_S)[0]:
            if stop.is_set():
                return Ended("interrupted", -9, b"", b"", time.monotonic() - started)
            if time.monotonic() - started > patience_s:
                return Ended("timeout", -9, b"", b"", time.monotonic() - started)
        said = json.loads(receive_frame(ours, _FRAME_BYTES))
        if "trouble" in said:
            raise SandboxError(f"{self._wall.info.backend}: {said['trouble']}")
        output, result = (receive_frame(ours, _FRAME_BYTES) for _ in range(2))
        rest = Left.received(ours, said["cut"]) if "cut" in said else Left()
        ending: Ending = said["ending"] if said["ending"] in ENDINGS else "crashed"
        seconds = time.monotonic() - started
        status, where = int(said["status"]), str(said.get("where", ""))
        return Ended(ending, status, output, result, seconds, tuple(said["hit"]), where, rest)

    def sleep(self) -> None:
        """Lets it end when its last run has; the next run starts a new one."""
        with self._lock:
            self._retire()

    def close(self) -> None:
        """Ends it with all that runs in it."""
        with self._lock:
            living, self._living = self._living, None
            if living is not None:
                living.end()
            self._starter.shutdown(wait=False)


def _listener(ours: socket.socket) -> socket.socket:
    """The socket that the run's supervisor hands out. Raises OSError where none comes."""
    ours.settimeout(_GRACE_S)
    _, handles, _, _ = socket.recv_fds(ours, 1, 1)
    if not handles:
        raise OSError("no socket was handed out")
    return socket.socket(fileno=handles[0])
