"""Fork server: forks the zygote for each run, and one spare child ahead of the next run.

The control socket delivers one message a run: its limits, and the run's socket, which the zygote
never reads.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import time
from dataclasses import dataclass, field
from typing import NoReturn

from ..isolation import landlock_run
from ..isolation import syscalls as k
from . import child
from .file_descriptors import InheritedDescriptors
from .supervisor import GuestRun, send_startup_error, supervise

_MAX_LIMITS_BYTES = 65536
# An older spare would tell a run after a pause from one that follows another run.
_MAX_SPARE_AGE_S = 0.2


@dataclass(frozen=True)
class _SpareChild:
    """A child that waits for its run, with the limits it was forked for."""

    limits: bytes
    source: socket.socket
    forked_at: float = field(default_factory=time.monotonic)

    @property
    def is_new(self) -> bool:
        return time.monotonic() - self.forked_at < _MAX_SPARE_AGE_S

    def hand_over(self, limits: bytes, handle: int) -> bool:
        """Send the run's socket; if the child does not fit or has died, end it and return False."""
        if limits == self.limits and self.is_new:
            with contextlib.suppress(OSError):
                socket.send_fds(self.source, [b"run"], [handle])
                os.close(handle)
                return True
        self.source.close()
        return False


class ForkServer:
    """Forks this process for each run that the host requests."""

    def __init__(self, control: socket.socket, root: str) -> None:
        """`root` is the folder of runs without namespaces; '' if each run gets its own."""
        self._control, self._has_namespaces, self._root = control, not root, root
        self.inherited = InheritedDescriptors()
        self._spare: _SpareChild | None = None
        self._running: list[_SpareChild] = []
        self._last_limits = b""
        # The same for all runs, and none that code could know.
        self._first_pid = 1000 + int.from_bytes(os.urandom(2), "big") % 30_000
        self._idle_since, self._is_in_demand = 0.0, False

    def wait_for_run(self) -> GuestRun:
        """Serve requests; returns in the process of a run only."""
        self.inherited.finish_recording()
        child.unload_guest_modules()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps ended children
        gc.freeze()  # not collected before: that takes longer than what it frees is worth
        gc.enable()
        self._control.send(b"ready")
        while True:
            run = self._fork_spare()
            if run is None and self._wait_for_request():
                run = self._serve_run()
            if run is not None:
                return run

    def _fork_spare(self) -> GuestRun | None:
        """Fork a spare while nothing runs: its namespaces will be ready for the next run.

        Not if the last run came so late that a spare for it was too old, as the next one may too.
        """
        if self._spare is None and self._is_in_demand and not self._running:
            with contextlib.suppress(OSError):
                forked = self._fork_child(self._last_limits)
                if isinstance(forked, GuestRun):
                    return forked
                self._spare = forked
        return None

    def _wait_for_request(self) -> bool:
        """Return True if the host requests a run, False if a run has ended."""
        sources = {item.source: item for item in self._running}
        ready, _, _ = select.select([self._control, *sources], [], [])
        for source in ready:
            if source is not self._control:  # readable means closed: a run never writes to it
                source.close()
                self._running.remove(sources[source])
                self._idle_since = time.monotonic()
        return self._control in ready

    def _serve_run(self) -> GuestRun | None:
        """Serve one request; returns a run in its process, None in the zygote."""
        limits, handles, _, _ = socket.recv_fds(self._control, _MAX_LIMITS_BYTES, 1)
        if not limits:
            self._shut_down()
        handle = handles[0]
        idle_s = 0.0 if self._running else time.monotonic() - self._idle_since
        self._is_in_demand = idle_s < _MAX_SPARE_AGE_S
        if self._hand_to_spare(limits, handle):
            return None
        try:
            forked = self._fork_child(limits)
        except OSError as error:  # no memory or namespaces; the next run may succeed
            send_startup_error(socket.socket(fileno=handle), error)
            return None
        if isinstance(forked, GuestRun):
            return forked
        if forked.hand_over(limits, handle):
            self._running.append(forked)
        else:
            os.close(handle)
        return None

    def _hand_to_spare(self, limits: bytes, handle: int) -> bool:
        """Hand the run to the spare child; False if there is none that fits."""
        self._last_limits = limits
        spare, self._spare = self._spare, None
        if spare is None or not spare.hand_over(limits, handle):
            return False
        self._running.append(spare)
        return True

    def _shut_down(self) -> NoReturn:
        """Exit after the host has closed the control socket."""
        if self._spare is not None:
            self._spare.source.close()
        if self._root:
            landlock_run.remove_run_folders(self._root)
        os._exit(0)

    def _fork_child(self, limits: bytes) -> _SpareChild | GuestRun:
        """Fork: the child's handle in the zygote, a run in the child.

        Raises:
            OSError: the kernel has no memory or namespaces for it.
        """
        ids = (os.getuid(), os.getgid())
        own_end, child_end = socket.socketpair()
        try:
            pid = k.clone(k.ALL_NAMESPACES if self._has_namespaces else 0)
        except OSError:
            own_end.close()
            child_end.close()
            raise
        if pid:
            child_end.close()
            return _SpareChild(limits, own_end)
        own_end.close()
        self._control.close()
        fds, pid = self.inherited.fds, self._first_pid
        return supervise(child_end, json.loads(limits), ids, self._has_namespaces, fds, pid)
