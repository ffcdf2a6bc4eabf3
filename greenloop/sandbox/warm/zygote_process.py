"""One zygote process, from its start to its end."""

from __future__ import annotations

import contextlib
import select
import socket
import subprocess
import tempfile
import time

from greenloop.errors import SandboxError
from greenloop.sandbox.backends.mounts import GuestMounts
from greenloop.sandbox.backends.namespaces import Backend

_START_SECONDS, _SEND_SECONDS, _EXIT_SECONDS = 60.0, 30.0, 2.0


class ZygoteProcess:
    """A started zygote; `runs` counts the runs given to it, `active_runs` those in progress."""

    def __init__(self, backend: Backend, mounts: GuestMounts) -> None:
        """Start the process. Raises SandboxError where that fails."""
        self.runs = self.active_runs = 0
        self._is_ready = False
        self._backend_name, self._deadline = backend.name, time.monotonic() + _START_SECONDS
        self._stderr_file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the zygote
        self._control_socket, guest_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with guest_end:
                self._process = subprocess.Popen(
                    backend.command(mounts, guest_end.fileno()),
                    pass_fds=[guest_end.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=self._stderr_file,
                    stderr=self._stderr_file,
                    env={"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": str(mounts.hash_seed)},
                    cwd="/",
                    start_new_session=True,
                )
        except OSError as error:
            self._close()
            raise SandboxError(f"{backend.name}: {error}") from None

    def poll_ready(self, wait_s: float) -> bool:
        """Return whether it takes runs. Raises SandboxError where it never will."""
        if self._is_ready:
            return True
        readable, _, _ = select.select([self._control_socket], [], [], wait_s)
        if readable:
            with contextlib.suppress(OSError):
                if self._control_socket.recv(64) == b"ready":
                    self._control_socket.settimeout(_SEND_SECONDS)
                    self._is_ready = True
                    return True
        if readable or time.monotonic() > self._deadline:
            raise SandboxError(f"{self._backend_name}: {self.last_error_line()}")
        return False

    def clone(self, limits: bytes) -> socket.socket:
        """Start a run and return its socket. Raises OSError where the process does not take it."""
        host_end, guest_end = socket.socketpair()
        with guest_end:
            try:
                socket.send_fds(self._control_socket, [limits], [guest_end.fileno()])
            except BaseException:
                host_end.close()
                raise
        self.runs += 1
        return host_end

    def is_dead(self) -> bool:
        return self._process.poll() is not None

    def is_dying(self) -> bool:
        """Return whether it takes no more runs: it is dead, or has closed its control socket."""
        if self.is_dead():
            return True
        readable, _, _ = select.select([self._control_socket], [], [], 0)  # only when closed
        if not readable:
            return False
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_EXIT_SECONDS)
        return True

    def last_error_line(self) -> str:
        """Return the last line that it wrote."""
        with contextlib.suppress(ValueError, OSError):
            self._stderr_file.seek(0)
            lines = self._stderr_file.read(20000).decode("utf-8", "replace").strip().split("\n")
            return lines[-1][:300] or "it said nothing"
        return "it said nothing"

    def end(self) -> None:
        """Kill it, and with it everything that runs in it."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        self._control_socket.close()
        self._stderr_file.close()
