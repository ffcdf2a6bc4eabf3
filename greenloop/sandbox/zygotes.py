"""The host's side of a zygote: starting it, handing it runs, starting it anew when it has died."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import subprocess
import tempfile
import threading
import time
from typing import IO, cast

from greenloop.errors import SandboxError
from greenloop.records import Ending
from greenloop.sandbox.bounded import Ended
from greenloop.sandbox.inside.frames import receive_frame, send_frame
from greenloop.sandbox.visible import Visible
from greenloop.sandbox.walls import Wall

_START_S, _GRACE_S, _POLL_S = 30.0, 5.0, 0.05
_MOST_RUNS = 2000  # then it is started anew: whatever might grow in it does not grow for ever
_FRAME_BYTES = 64 << 20
_ENDINGS = ("finished", "timeout", "memory", "output", "interrupted")


class Zygote:
    """One zygote behind one wall. Safe to use from several threads."""

    def __init__(self, wall: Wall, seen: Visible) -> None:
        self._wall, self._seen, self._lock = wall, seen, threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._errors: IO[bytes] | None = None
        self._runs = 0

    def run(self, job: bytes, timeout_s: float, stop: threading.Event) -> Ended:
        """One run; `job` is JSON. Raises SandboxError where the zygote cannot be started."""
        started = time.monotonic()
        ours = self._handed_over()
        try:
            with ours:
                ours.settimeout(timeout_s + _GRACE_S)
                send_frame(ours, job)
                return _report(ours, started, timeout_s + _GRACE_S, stop)
        except (OSError, EOFError, ValueError):
            seconds = time.monotonic() - started
            return Ended("crashed", -9, b"", b"", seconds)

    def _handed_over(self) -> socket.socket:
        """Our end of a new run's socket; the other end is with a fresh clone."""
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            for _ in range(2):
                control = self._alive()
                try:
                    socket.send_fds(control, [b"run"], [theirs.fileno()])
                    self._runs += 1
                    return ours
                except OSError:
                    self._end()
        ours.close()
        raise SandboxError(f"the sandbox dies at once: {self._last_words()}")

    def _alive(self) -> socket.socket:
        dead = self._process is None or self._process.poll() is not None
        if dead or self._runs >= _MOST_RUNS:
            self._end()
            self._start()
        assert self._control is not None
        return self._control

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        errors = cast("IO[bytes]", tempfile.TemporaryFile())
        with theirs:
            try:
                self._process = subprocess.Popen(
                    self._wall.command(self._seen, theirs.fileno()),
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=errors,
                    stderr=errors,
                    env={"PATH": "/usr/bin:/bin"},
                    cwd="/",
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                raise SandboxError(f"{self._wall.info.backend}: {error}") from None
        self._control, self._errors, self._runs = ours, errors, 0
        ours.settimeout(_START_S)
        with contextlib.suppress(OSError):
            if ours.recv(64) == b"ready":
                return
        words = self._last_words()
        self._end()
        raise SandboxError(f"{self._wall.info.backend}: {words}")

    def _last_words(self) -> str:
        if self._errors is None:
            return "it said nothing"
        with contextlib.suppress(ValueError, OSError):
            self._errors.seek(0)
            lines = self._errors.read(20000).decode("utf-8", "replace").strip().split("\n")
            return lines[-1][:300] or "it said nothing"
        return "it said nothing"

    def _end(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._errors is not None:
            self._errors.close()
        self._process = self._control = self._errors = None

    def close(self) -> None:
        with self._lock:
            self._end()


def _report(ours: socket.socket, started: float, patience_s: float, stop: threading.Event) -> Ended:
    """The run's three frames: how it ended, its output, its side channel."""
    while not select.select([ours], [], [], _POLL_S)[0]:
        if stop.is_set():
            return Ended("interrupted", -9, b"", b"", time.monotonic() - started)
        if time.monotonic() - started > patience_s:
            return Ended("timeout", -9, b"", b"", time.monotonic() - started)
    head, output, result = (receive_frame(ours, _FRAME_BYTES) for _ in range(3))
    said = json.loads(head)
    ending: Ending = said["ending"] if said["ending"] in _ENDINGS else "crashed"
    return Ended(ending, int(said["status"]), output, result, time.monotonic() - started)
