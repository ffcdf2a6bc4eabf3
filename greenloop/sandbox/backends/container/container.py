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
from greenloop.sandbox.backends.container.command import ContainerConfig, build_start_command
from greenloop.sandbox.backends.container.runtime import ContainerEngine, last_line
from greenloop.sandbox.guest.files.collector import COLLECT_FILES_KEY
from greenloop.sandbox.guest.protocol.framing import receive_frame, send_frame
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult, ScriptArtifacts
from greenloop.sandbox.warm.zygote_client import ENDINGS

_START_SECONDS, _SEND_SECONDS, _GRACE_SECONDS, _EXIT_SECONDS, _POLL_SECONDS = (
    90.0,
    30.0,
    15.0,
    5.0,
    0.05,
)
_MAX_FRAME_BYTES = 64 << 20


class Container:
    """For one thread at a time. `runs` were handed to it so far; lost is what gave no report."""

    def __init__(self, engine: ContainerEngine, config: ContainerConfig) -> None:
        """Starts it. Raises SandboxError where the engine cannot be started."""
        self.config, self.runs, self.is_lost = config, 0, False
        self._engine, self._deadline = engine, time.monotonic() + _START_SECONDS
        self._name = f"greenloop-{os.getpid()}-{secrets.token_hex(6)}"  # so one sees whose it is
        self._stderr_file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the container
        self._socket, theirs = socket.socketpair()
        self._is_ready = False
        try:
            with theirs:
                self._process = subprocess.Popen(
                    build_start_command(engine, self._name, config),
                    stdin=theirs.fileno(),
                    stdout=theirs.fileno(),
                    stderr=self._stderr_file,
                    cwd="/",
                    start_new_session=True,
                )
        except OSError as error:
            self._close()
            raise SandboxError(f"{engine.name}: {error}") from None

    def poll_ready(self, wait_s: float) -> bool:
        """Whether it waits for a run. Raises SandboxError where it never will."""
        if self._is_ready:
            return True
        if select.select([self._socket], [], [], wait_s)[0]:
            self._socket.settimeout(_SEND_SECONDS)
            with contextlib.suppress(OSError, EOFError, ValueError):
                self._is_ready = receive_frame(self._socket, 64) == b"ready"
            if not self._is_ready:
                raise SandboxError(f"{self._engine.name}: {self.last_error_line()}")
        elif time.monotonic() > self._deadline:
            raise SandboxError(f"{self._engine.name}: no container came to life")
        return self._is_ready

    def run(
        self,
        payload: bytes,
        limits: ResourceLimits,
        stop: threading.Event,
        artifact_request: bytes = b"",
    ) -> ProcessResult:
        """One run, in a container that is ready; `wanted` (JSON) is what is to be told of what it
        makes. Raises OSError or EOFError where it dies.
        """
        self.runs, self.is_lost, self._is_ready = self.runs + 1, True, False
        started = time.monotonic()
        patience_s = limits.timeout_s + _GRACE_SECONDS
        self._deadline = started + patience_s + _START_SECONDS
        self._socket.settimeout(_SEND_SECONDS)
        told = {**limits.to_guest(), **({COLLECT_FILES_KEY: 1} if artifact_request else {})}
        send_frame(self._socket, json.dumps(told).encode())
        send_frame(self._socket, payload)
        while not select.select([self._socket], [], [], _POLL_SECONDS)[0]:
            gone_s = time.monotonic() - started
            if stop.is_set() or gone_s > patience_s:
                ending: Ending = "interrupted" if stop.is_set() else "timeout"
                return ProcessResult(ending, -9, b"", b"", gone_s)
        said = json.loads(receive_frame(self._socket, _MAX_FRAME_BYTES))
        if "trouble" in said:
            raise SandboxError(f"{self._engine.name}: {said['trouble']}")
        output, result, where = (receive_frame(self._socket, _MAX_FRAME_BYTES) for _ in range(3))
        left = (
            self._receive_artifacts(artifact_request, said["cut"])
            if artifact_request
            else ScriptArtifacts()
        )
        self.is_lost = False
        ending = said["ending"] if said["ending"] in ENDINGS else "crashed"
        seconds, status = time.monotonic() - started, int(said["status"])
        place = where.decode("utf-8", "replace")
        return ProcessResult(
            ending, status, output, result, seconds, tuple(said["hit"]), place, left
        )

    def _receive_artifacts(self, artifact_request: bytes, cut: list[str]) -> ScriptArtifacts:
        """The question is put when the run is over: before, it would be in the run's memory."""
        send_frame(self._socket, artifact_request)
        return ScriptArtifacts.from_stream(self._socket, cut)

    def last_error_line(self) -> str:
        """The last line that it or its engine wrote."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_EXIT_SECONDS)
        self._stderr_file.seek(0)
        return last_line(self._stderr_file.read(20000).decode("utf-8", "replace"))

    def disconnect(self) -> None:
        """Tells it to go: what is inside ends as soon as it finds nobody at the other end."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """Ends it, by its name where it does not go by itself."""
        self.disconnect()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_EXIT_SECONDS)
        if self._process.returncode != 0:  # it hangs, or the engine's own process was killed
            for words in (["kill"], ["rm", "--force"]):
                self._run_engine_command(words)
        self._process.kill()
        self._process.wait()
        self._close()

    def _run_engine_command(self, words: list[str]) -> None:
        command = self._engine.command(*words, self._name)
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                command, capture_output=True, timeout=_SEND_SECONDS, cwd="/", check=False
            )

    def _close(self) -> None:
        self._socket.close()
        self._stderr_file.close()
