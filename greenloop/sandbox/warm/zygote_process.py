"""One zygote process, from its start behind a wall to its end."""

from __future__ import annotations

import contextlib
import select
import socket
import subprocess
import tempfile
import time

from greenloop.errors import SandboxError
from greenloop.sandbox.backends.mounts import Visible
from greenloop.sandbox.backends.namespaces import Wall

_START_S, _SEND_S, _DYING_S = 60.0, 30.0, 2.0


class Living:
    """`runs` were handed to it so far; `users` have one that has not come to its end."""

    def __init__(self, wall: Wall, seen: Visible) -> None:
        """Starts it. Raises SandboxError where that is not possible."""
        self.runs = self.users = 0
        self._backend, self._until = wall.info.backend, time.monotonic() + _START_S
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the zygote
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self._process = subprocess.Popen(
                    wall.command(seen, theirs.fileno()),
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=self._errors,
                    stderr=self._errors,
                    env={"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": str(seen.hash_seed)},
                    cwd="/",
                    start_new_session=True,
                )
        except OSError as error:
            self._close()
            raise SandboxError(f"{wall.info.backend}: {error}") from None

    def is_ready(self, wait_s: float) -> bool:
        """Whether it has come to life. Raises SandboxError where it will not."""
        readable, _, _ = select.select([self._control], [], [], wait_s)
        if readable:
            with contextlib.suppress(OSError):
                if self._control.recv(64) == b"ready":
                    self._control.settimeout(_SEND_S)
                    return True
        if readable or time.monotonic() > self._until:
            raise SandboxError(f"{self._backend}: {self.last_words()}")
        return False

    def clone(self, limits: bytes) -> socket.socket:
        """Our end of a new run's socket. Raises OSError where the process does not take it."""
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._control, [limits], [theirs.fileno()])
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
        readable, _, _ = select.select([self._control], [], [], 0)  # it never says a word
        if not readable:
            return False
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_DYING_S)
        return True

    def last_words(self) -> str:
        """The last line that it wrote."""
        with contextlib.suppress(ValueError, OSError):
            self._errors.seek(0)
            lines = self._errors.read(20000).decode("utf-8", "replace").strip().split("\n")
            return lines[-1][:300] or "it said nothing"
        return "it said nothing"

    def end(self) -> None:
        """Kills it; with it goes all that runs in it."""
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self) -> None:
        self._control.close()
        self._errors.close()
