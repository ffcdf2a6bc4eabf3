"""One zygote process, from its start to its end."""

import contextlib
import os
import select
import socket
import subprocess
import tempfile
import threading
import time

from greenloop.errors import SandboxError
from greenloop.sandbox.backends.mounts import GuestMounts
from greenloop.sandbox.backends.namespaces import Backend, build_environment
from greenloop.sandbox.process_result import POLL_SECONDS

_START_SECONDS, _SEND_SECONDS, _EXIT_SECONDS = 60.0, 30.0, 2.0


class ZygoteProcess:
    """Process of a zygote.

    `runs` counts the runs started in it, `active_runs` those in progress.
    """

    def __init__(self, backend: Backend, mounts: GuestMounts) -> None:
        """Start the process. Raises SandboxError if that fails."""
        self.runs = self.active_runs = 0
        self._backend_name, self._deadline = backend.name, time.monotonic() + _START_SECONDS
        self._lock, self._is_ready = threading.Lock(), False
        self._stderr_file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the zygote
        self._control, guest_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = backend.command(mounts, guest_end.fileno())
        try:
            with guest_end:
                self._process = subprocess.Popen(
                    command.arguments,
                    pass_fds=[guest_end.fileno()],
                    stdin=subprocess.PIPE,
                    stdout=self._stderr_file,
                    stderr=self._stderr_file,
                    env=build_environment(mounts),
                    cwd="/",
                    start_new_session=True,
                )
            self._send_input(command.input)
        except OSError as error:
            self._close()
            raise SandboxError(f"{backend.name}: {error}") from None

    def _send_input(self, text: str) -> None:
        with contextlib.suppress(BrokenPipeError), self._process.stdin as pipe:  # type: ignore[union-attr]
            pipe.write(os.fsencode(text))

    def clone(self, limits: bytes, stop: threading.Event) -> socket.socket | None:
        """Start a run when the zygote is ready; return the run's socket, None if `stop` is set.

        Raises:
            OSError: the process does not accept the run.
            SandboxError: the process does not get ready.
        """
        with self._lock:
            while not self._poll_ready():
                if stop.is_set():
                    return None
            host_end, guest_end = socket.socketpair()
            with guest_end:
                try:
                    socket.send_fds(self._control, [limits], [guest_end.fileno()])
                except BaseException:
                    host_end.close()
                    raise
        return host_end

    def _poll_ready(self) -> bool:
        """Return whether the zygote is ready for runs. Raises SandboxError if its start failed."""
        if self._is_ready:
            return True
        if select.select([self._control], [], [], POLL_SECONDS)[0]:
            with contextlib.suppress(OSError):
                self._is_ready = self._control.recv(64) == b"ready"
            if not self._is_ready:
                raise SandboxError(f"{self._backend_name}: {self.last_error_line()}")
            self._control.settimeout(_SEND_SECONDS)
        elif time.monotonic() > self._deadline:
            raise SandboxError(f"{self._backend_name}: {self.last_error_line()}")
        return self._is_ready

    def is_dead(self) -> bool:
        return self._process.poll() is not None

    def is_dying(self) -> bool:
        """Return whether the process is dead or has closed its socket, so takes no runs."""
        if self.is_dead():
            return True
        if not (self._is_ready and select.select([self._control], [], [], 0)[0]):
            return False
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_EXIT_SECONDS)
        return True

    def last_error_line(self) -> str:
        """Return the last line that the process wrote."""
        with contextlib.suppress(ValueError, OSError):
            self._stderr_file.seek(0)
            lines = self._stderr_file.read(20000).decode("utf-8", "replace").strip().split("\n")
            return lines[-1][:300] or "it said nothing"
        return "it said nothing"

    def end(self) -> None:
        """Kill the process and all runs in it."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        self._control.close()
        self._stderr_file.close()
