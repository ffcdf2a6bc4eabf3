"""One zygote process, from its start behind a wall to its end."""

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
    """`runs` were handed to it so far; `users` have one that has not come to its end."""

    def __init__(self, backend: Backend, mounts: GuestMounts) -> None:
        """Starts it. Raises SandboxError where that is not possible."""
        self.runs = self.active_runs = 0
        self._backend_name, self._deadline = backend.info.backend, time.monotonic() + _START_SECONDS
        self._stderr_file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the zygote
        self._control_socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self._process = subprocess.Popen(
                    backend.command(mounts, theirs.fileno()),
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=self._stderr_file,
                    stderr=self._stderr_file,
                    env={"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": str(mounts.hash_seed)},
                    cwd="/",
                    start_new_session=True,
                )
        except OSError as error:
            self._close()
            raise SandboxError(f"{backend.info.backend}: {error}") from None

    def poll_ready(self, wait_s: float) -> bool:
        """Whether it has come to life. Raises SandboxError where it will not."""
        readable, _, _ = select.select([self._control_socket], [], [], wait_s)
        if readable:
            with contextlib.suppress(OSError):
                if self._control_socket.recv(64) == b"ready":
                    self._control_socket.settimeout(_SEND_SECONDS)
                    return True
        if readable or time.monotonic() > self._deadline:
            raise SandboxError(f"{self._backend_name}: {self.last_error_line()}")
        return False

    def clone(self, limits: bytes) -> socket.socket:
        """Our end of a new run's socket. Raises OSError where the process does not take it."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control_socket, [limits], [theirs.fileno()])
            except BaseException:
                ours.close()
                raise
        self.runs += 1
        return ours

    def is_dead(self) -> bool:
        return self._process.poll() is not None

    def is_dying(self) -> bool:
        """Whether it is dead or its end of the control socket is closed: it takes no more runs."""
        if self.is_dead():
            return True
        readable, _, _ = select.select([self._control_socket], [], [], 0)  # it never says a word
        if not readable:
            return False
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_EXIT_SECONDS)
        return True

    def last_error_line(self) -> str:
        """The last line that it wrote."""
        with contextlib.suppress(ValueError, OSError):
            self._stderr_file.seek(0)
            lines = self._stderr_file.read(20000).decode("utf-8", "replace").strip().split("\n")
            return lines[-1][:300] or "it said nothing"
        return "it said nothing"

    def end(self) -> None:
        """Kills it; with it goes all that runs in it."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        self._control_socket.close()
        self._stderr_file.close()
