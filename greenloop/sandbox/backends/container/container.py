"""One container, from its start to its end."""

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
from collections.abc import Callable
from typing import Any

from greenloop.errors import SandboxError
from greenloop.sandbox.backends.container.command import ContainerConfig, build_start_command
from greenloop.sandbox.backends.container.runtime import ContainerEngine, last_line
from greenloop.sandbox.guest.protocol.framing import receive_frame, send_frame
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult, receive_head, receive_report

_START_SECONDS, _SEND_SECONDS, _GRACE_SECONDS, _EXIT_SECONDS = 90.0, 30.0, 15.0, 5.0


class Container:
    """Started container, for one thread at a time.

    `runs` counts the runs started in it; `is_lost` is set if its last run sent no report.
    """

    def __init__(self, engine: ContainerEngine, config: ContainerConfig) -> None:
        """Start the container. Raises SandboxError if the engine cannot be started."""
        self.config, self.runs, self.is_lost = config, 0, False
        self._engine, self._deadline = engine, time.monotonic() + _START_SECONDS
        self._name = f"greenloop-{os.getpid()}-{secrets.token_hex(6)}"
        self._stderr_file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the container
        self._socket, guest_end = socket.socketpair()
        self._is_ready = False
        try:
            with guest_end:
                self._process = subprocess.Popen(
                    build_start_command(engine, self._name, config),
                    stdin=guest_end.fileno(),
                    stdout=guest_end.fileno(),
                    stderr=self._stderr_file,
                    cwd="/",
                    start_new_session=True,
                )
        except OSError as error:
            self._close()
            raise SandboxError(f"{engine.name}: {error}") from None

    def poll_ready(self, wait_s: float) -> bool:
        """Return whether it is ready within `wait_s`. Raises SandboxError if its start failed."""
        if self._is_ready:
            return True
        if select.select([self._socket], [], [], wait_s)[0]:
            self._socket.settimeout(_SEND_SECONDS)
            with contextlib.suppress(OSError, EOFError, ValueError):
                self._is_ready = receive_frame(self._socket, 64) == b"ready"
            if not self._is_ready:
                raise SandboxError(f"{self._engine.name}: {self.last_error_line()}")
        elif time.monotonic() > self._deadline:
            raise SandboxError(f"{self._engine.name}: the container did not start in time")
        return self._is_ready

    def run(
        self,
        payload: bytes,
        limits: ResourceLimits,
        stop: threading.Event,
        on_progress: Callable[[int], None] | None = None,
        artifact_request: dict[str, Any] | None = None,
    ) -> ProcessResult:
        """Run one job (JSON) in a container that is ready; `stop` ends it as `interrupted`.

        `on_progress` is called with the number of finished tests or mutants, `artifact_request`
        selects the created files to return. Raises OSError or EOFError if the container ended.
        """
        self.runs, self.is_lost, self._is_ready = self.runs + 1, True, False
        started, patience_s = time.monotonic(), limits.timeout_s + _GRACE_SECONDS
        self._deadline = started + patience_s + _START_SECONDS
        self._socket.settimeout(_SEND_SECONDS)
        control = limits.to_guest(collects_files=bool(artifact_request))
        send_frame(self._socket, json.dumps(control).encode())
        send_frame(self._socket, payload)
        head = receive_head(self._socket, started, stop, patience_s, on_progress)
        if isinstance(head, ProcessResult):
            return head
        result = receive_report(self._socket, self._engine.name, started, head, artifact_request)
        self.is_lost = False
        return result

    def last_error_line(self) -> str:
        """Return the last line that the container or its engine wrote to standard error."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_EXIT_SECONDS)
        self._stderr_file.seek(0)
        return last_line(self._stderr_file.read(20000).decode("utf-8", "replace"))

    def disconnect(self) -> None:
        """Close the connection, upon which the guest ends."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """End the container; if it does not exit itself, by `kill` and `rm` of the engine."""
        self.disconnect()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_EXIT_SECONDS)
        if self._process.returncode != 0:  # it hangs, or the engine's process was killed
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
