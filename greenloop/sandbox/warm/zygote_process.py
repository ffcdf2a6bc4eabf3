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


class _Control:
    """Control socket of one zygote, which requests runs once the zygote is ready."""

    def __init__(self) -> None:
        self.socket, self.guest_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.lock, self.is_ready = threading.Lock(), False
        self._deadline = time.monotonic() + _START_SECONDS

    def is_late(self) -> bool:
        """Return whether the time for the start of the zygote is over."""
        return time.monotonic() > self._deadline

    def poll_ready(self, wait_s: float) -> bool | None:
        """Return whether the zygote is ready for runs; None if its start has failed."""
        if self.is_ready:
            return True
        if not select.select([self.socket], [], [], wait_s)[0]:
            return False
        with contextlib.suppress(OSError):
            if self.socket.recv(64) == b"ready":
                self.socket.settimeout(_SEND_SECONDS)
                self.is_ready = True
                return True
        return None

    def is_closed(self) -> bool:
        """Return whether the zygote has closed the socket, after which it accepts no more runs."""
        return self.is_ready and bool(select.select([self.socket], [], [], 0)[0])


class ZygoteProcess:
    """Process of a zygote, and of the zygote without pytest that it forks if `mounts.is_bare`.

    `runs` counts the runs started in them, `active_runs` those in progress.
    """

    def __init__(self, backend: Backend, mounts: GuestMounts) -> None:
        """Start the process. Raises SandboxError if that fails."""
        self.runs = self.active_runs = 0
        self._backend_name = backend.name
        self._stderr_file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the zygote
        kinds = (True, False) if mounts.is_bare else (True,)
        self._controls = {kind: _Control() for kind in kinds}
        handles = [item.guest_end.fileno() for item in self._controls.values()]
        command = backend.command(mounts, handles)
        try:
            self._process = subprocess.Popen(
                command.arguments,
                pass_fds=handles,
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
        for item in self._controls.values():
            item.guest_end.close()

    def _send_input(self, text: str) -> None:
        with contextlib.suppress(BrokenPipeError), self._process.stdin as pipe:  # type: ignore[union-attr]
            pipe.write(os.fsencode(text))

    def clone(
        self, limits: bytes, stop: threading.Event, *, has_pytest: bool
    ) -> socket.socket | None:
        """Start a run when the zygote is ready; return the run's socket, None if `stop` is set.

        Raises:
            OSError: the process does not accept the run.
            SandboxError: the process does not get ready.
        """
        control = self._controls[has_pytest]
        with control.lock:
            while not (is_ready := control.poll_ready(POLL_SECONDS)):
                if stop.is_set():
                    return None
                if is_ready is None or control.is_late():
                    raise SandboxError(f"{self._backend_name}: {self.last_error_line()}")
            host_end, guest_end = socket.socketpair()
            with guest_end:
                try:
                    socket.send_fds(control.socket, [limits], [guest_end.fileno()])
                except BaseException:
                    host_end.close()
                    raise
        return host_end

    def is_dead(self) -> bool:
        return self._process.poll() is not None

    def is_dying(self) -> bool:
        """Return whether the process is dead or has closed a control socket, so takes no runs."""
        if self.is_dead():
            return True
        if not any(item.is_closed() for item in self._controls.values()):
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
        for item in self._controls.values():
            item.socket.close()
            item.guest_end.close()
        self._stderr_file.close()
