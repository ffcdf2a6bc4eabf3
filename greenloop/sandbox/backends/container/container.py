"""One container, from its start to its end."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import socket
import subprocess
import tempfile
import threading
import time

from greenloop.errors import SandboxError
from greenloop.records import Ending
from greenloop.sandbox.backends.container.command import Shape, start_command
from greenloop.sandbox.backends.container.runtime import Engine, last_line
from greenloop.sandbox.guest.files.collector import WANTED
from greenloop.sandbox.guest.protocol.framing import receive_frame, send_frame
from greenloop.sandbox.limits import Limits
from greenloop.sandbox.process_result import Ended, Left
from greenloop.sandbox.warm.zygote_client import ENDINGS

_START_S, _SEND_S, _GRACE_S, _ENDING_S, _POLL_S = 90.0, 30.0, 15.0, 5.0, 0.05
_FRAME_BYTES = 64 << 20


class Container:
    """For one thread at a time. `runs` were handed to it so far; lost is what gave no report."""

    def __init__(self, engine: Engine, shape: Shape) -> None:
        """Starts it. Raises SandboxError where the engine cannot be started."""
        self.shape, self.runs, self.is_lost = shape, 0, False
        self._engine, self._until = engine, time.monotonic() + _START_S
        self._name = f"greenloop-{os.getpid()}-{secrets.token_hex(6)}"  # so one sees whose it is
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the container
        self._ours, theirs = socket.socketpair()
        self._is_ready = False
        try:
            with theirs:
                self._process = subprocess.Popen(
                    start_command(engine, self._name, shape),
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=self._errors,
                    cwd="/",
                    start_new_session=True,
                )
        except OSError as error:
            self._close()
            raise SandboxError(f"{engine.name}: {error}") from None

    def is_ready(self, wait_s: float) -> bool:
        """Whether it waits for a run. Raises SandboxError where it never will."""
        if self._is_ready:
            return True
        if select.select([self._ours], [], [], wait_s)[0]:
            self._ours.settimeout(_SEND_S)
            with contextlib.suppress(OSError, EOFError, ValueError):
                self._is_ready = receive_frame(self._ours, 64) == b"ready"
            if not self._is_ready:
                raise SandboxError(f"{self._engine.name}: {self.last_words()}")
        elif time.monotonic() > self._until:
            raise SandboxError(f"{self._engine.name}: no container came to life")
        return self._is_ready

    def run(self, job: bytes, limits: Limits, stop: threading.Event, wanted: bytes = b"") -> Ended:
        """One run, in a container that is ready; `wanted` (JSON) is what is to be told of what it
        makes. Raises OSError or EOFError where it dies.
        """
        self.runs, self.is_lost, self._is_ready = self.runs + 1, True, False
        started = time.monotonic()
        patience_s = limits.timeout_s + _GRACE_S
        self._until = started + patience_s + _START_S
        self._ours.settimeout(_SEND_S)
        told = {**limits.inside(), **({WANTED: 1} if wanted else {})}
        send_frame(self._ours, json.dumps(told).encode())
        send_frame(self._ours, job)
        while not select.select([self._ours], [], [], _POLL_S)[0]:
            gone_s = time.monotonic() - started
            if stop.is_set() or gone_s > patience_s:
                ending: Ending = "interrupted" if stop.is_set() else "timeout"
                return Ended(ending, -9, b"", b"", gone_s)
        said = json.loads(receive_frame(self._ours, _FRAME_BYTES))
        if "trouble" in said:
            raise SandboxError(f"{self._engine.name}: {said['trouble']}")
        output, result, where = (receive_frame(self._ours, _FRAME_BYTES) for _ in range(3))
        left = self._left(wanted, said["cut"]) if wanted else Left()
        self.is_lost = False
        ending = said["ending"] if said["ending"] in ENDINGS else "crashed"
        seconds, status = time.monotonic() - started, int(said["status"])
        place = where.decode("utf-8", "replace")
        return Ended(ending, status, output, result, seconds, tuple(said["hit"]), place, left)

    def _left(self, wanted: bytes, cut: list[str]) -> Left:
        """The question is put when the run is over: before, it would be in the run's memory."""
        send_frame(self._ours, wanted)
        return Left.received(self._ours, cut)

    def last_words(self) -> str:
        """The last line that it or its engine wrote."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING_S)
        self._errors.seek(0)
        return last_line(self._errors.read(20000).decode("utf-8", "replace"))

    def leave(self) -> None:
        """Tells it to go: what is inside ends as soon as it finds nobody at the other end."""
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Ends it, by its name where it does not go by itself."""
        self.leave()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING_S)
        if self._process.returncode != 0:  # it hangs, or the engine's own process was killed
            for words in (["kill"], ["rm", "--force"]):
                self._by_name(words)
        self._process.kill()
        self._process.wait()
        self._close()

    def _by_name(self, words: list[str]) -> None:
        command = self._engine.command(*words, self._name)
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, capture_output=True, timeout=_SEND_S, cwd="/", check=False)

    def _close(self) -> None:
        self._ours.close()
        self._errors.close()
