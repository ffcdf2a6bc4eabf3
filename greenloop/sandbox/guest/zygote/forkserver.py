"""Copies of the zygote, one for each run, the next of them made beforehand.

On the control socket come messages, each with a run's socket: the run's limits. The zygote never
reads what is on the run's socket. A run that is split stands for itself: nobody else's copy was
made for it, and its own is never a spare.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
from dataclasses import dataclass
from typing import NoReturn

from ..isolation import landlock_run
from ..isolation import syscalls as k
from ..remote_module import SPLIT
from . import child as foreign
from .file_descriptors import InheritedDescriptors
from .supervisor import GuestRun, send_startup_error, supervise

_MAX_LIMITS_BYTES = 4096


@dataclass(frozen=True)
class _SpareChild:
    """A copy that waits for its run: what it was limited to, and where it takes the run's socket."""

    limits: bytes
    source: socket.socket

    def hand_over(self, limits: bytes, handle: int) -> bool:
        """Hands it over; False where this copy does not fit, or is gone: then it ends."""
        if limits == self.limits:
            with contextlib.suppress(OSError):
                socket.send_fds(self.source, [b"run"], [handle])
                os.close(handle)
                return True
        self.source.close()
        return False


class ForkServer:
    """Makes a copy of this process for each run that the host asks for."""

    def __init__(self, control: socket.socket, root: str) -> None:
        """`root`: where runs live that get no namespaces; '' where each gets its own."""
        self._control, self._has_namespaces, self._root = control, not root, root
        self.inherited = InheritedDescriptors()
        self._spare: _SpareChild | None = None
        self._running: list[_SpareChild] = []
        self._last_limits = b""

    def wait_for_run(self) -> GuestRun:
        """Returns in a run's process only."""
        self.inherited.finish_recording()
        foreign.unload_guest_modules()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended copies are cleared away by themselves
        gc.collect()
        gc.freeze()
        gc.enable()
        self._control.send(b"ready")
        while True:
            run = self._fork_spare()
            if run is None and self._wait_for_request():
                run = self._serve_run()
            if run is not None:
                return run

    def _fork_spare(self) -> GuestRun | None:
        """While nothing runs: a run like the last one will find its namespaces built."""
        if self._spare is None and self._last_limits and not self._running:
            with contextlib.suppress(OSError):
                made = self._fork_child(self._last_limits)
                if isinstance(made, GuestRun):
                    return made
                self._spare = made
        return None

    def _wait_for_request(self) -> bool:
        """Whether the host asks for a run; else one has ended."""
        sources = {copy.source: copy for copy in self._running}
        ready, _, _ = select.select([self._control, *sources], [], [])
        for source in ready:
            if source is not self._control:  # a run never says a word on it
                source.close()
                self._running.remove(sources[source])
        return self._control in ready

    def _serve_run(self) -> GuestRun | None:
        """One run of the host's."""
        limits, handles, _, _ = socket.recv_fds(self._control, _MAX_LIMITS_BYTES, 1)
        if not limits:
            self._shut_down()
        handle = handles[0]
        # The place of a split run is built when its code is known: no spare is that far from ready.
        if SPLIT not in json.loads(limits) and self._hand_to_spare(limits, handle):
            return None
        try:
            made = self._fork_child(limits)
        except OSError as error:  # for want of memory or namespaces: the next may go well again
            send_startup_error(socket.socket(fileno=handle), error)
            return None
        if isinstance(made, GuestRun):
            return made
        if made.hand_over(limits, handle):
            self._running.append(made)
        else:
            os.close(handle)
        return None

    def _hand_to_spare(self, limits: bytes, handle: int) -> bool:
        """Whether the spare, which is gone afterwards, is what is wanted; the next will be."""
        self._last_limits = limits
        spare, self._spare = self._spare, None
        if spare is None or not spare.hand_over(limits, handle):
            return False
        self._running.append(spare)
        return True

    def _shut_down(self) -> NoReturn:
        """The host is gone."""
        if self._spare is not None:
            self._spare.source.close()
        if self._root:
            landlock_run.remove_run_folders(self._root)
        os._exit(0)

    def _fork_child(self, limits: bytes) -> _SpareChild | GuestRun:
        """Raises OSError where there can be none."""
        ids = (os.getuid(), os.getgid())
        ours, theirs = socket.socketpair()
        try:
            child = k.clone(k.ALL_NAMESPACES if self._has_namespaces else 0)
        except OSError:
            ours.close()
            theirs.close()
            raise
        if child:
            theirs.close()
            return _SpareChild(limits, ours)
        ours.close()
        self._control.close()
        return supervise(theirs, json.loads(limits), ids, self._has_namespaces, self.inherited.fds)
