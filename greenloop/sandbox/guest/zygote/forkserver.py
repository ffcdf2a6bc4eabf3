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
from .file_descriptors import Kept
from .supervisor import Run, say, supervise

_LIMITS_BYTES = 4096


@dataclass(frozen=True)
class _Spare:
    """A copy that waits for its run: what it was limited to, and where it takes the run's socket."""

    limits: bytes
    source: socket.socket

    def takes(self, limits: bytes, handle: int) -> bool:
        """Hands it over; False where this copy does not fit, or is gone: then it ends."""
        if limits == self.limits:
            with contextlib.suppress(OSError):
                socket.send_fds(self.source, [b"run"], [handle])
                os.close(handle)
                return True
        self.source.close()
        return False


class Copies:
    """Makes a copy of this process for each run that the host asks for."""

    def __init__(self, control: socket.socket, root: str) -> None:
        """`root`: where runs live that get no namespaces; '' where each gets its own."""
        self._control, self._spaces, self._root = control, not root, root
        self.kept = Kept()
        self._spare: _Spare | None = None
        self._running: list[_Spare] = []
        self._limits = b""

    def next_run(self) -> Run:
        """Returns in a run's process only."""
        self.kept.settle()
        foreign.hide_ours()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended copies are cleared away by themselves
        gc.collect()
        gc.freeze()
        gc.enable()
        self._control.send(b"ready")
        while True:
            run = self._keep_a_spare()
            if run is None and self._wait():
                run = self._serve()
            if run is not None:
                return run

    def _keep_a_spare(self) -> Run | None:
        """While nothing runs: a run like the last one will find its namespaces built."""
        if self._spare is None and self._limits and not self._running:
            with contextlib.suppress(OSError):
                made = self._copy(self._limits)
                if isinstance(made, Run):
                    return made
                self._spare = made
        return None

    def _wait(self) -> bool:
        """Whether the host asks for a run; else one has ended."""
        sources = {copy.source: copy for copy in self._running}
        ready, _, _ = select.select([self._control, *sources], [], [])
        for source in ready:
            if source is not self._control:  # a run never says a word on it
                source.close()
                self._running.remove(sources[source])
        return self._control in ready

    def _serve(self) -> Run | None:
        """One run of the host's."""
        limits, handles, _, _ = socket.recv_fds(self._control, _LIMITS_BYTES, 1)
        if not limits:
            self._end()
        handle = handles[0]
        # The place of a split run is built when its code is known: no spare is that far from ready.
        if SPLIT not in json.loads(limits) and self._takes(limits, handle):
            return None
        try:
            made = self._copy(limits)
        except OSError as error:  # for want of memory or namespaces: the next may go well again
            say(socket.socket(fileno=handle), error)
            return None
        if isinstance(made, Run):
            return made
        if made.takes(limits, handle):
            self._running.append(made)
        else:
            os.close(handle)
        return None

    def _takes(self, limits: bytes, handle: int) -> bool:
        """Whether the spare, which is gone afterwards, is what is wanted; the next will be."""
        self._limits = limits
        spare, self._spare = self._spare, None
        if spare is None or not spare.takes(limits, handle):
            return False
        self._running.append(spare)
        return True

    def _end(self) -> NoReturn:
        """The host is gone."""
        if self._spare is not None:
            self._spare.source.close()
        if self._root:
            landlock_run.clear(self._root)
        os._exit(0)

    def _copy(self, limits: bytes) -> _Spare | Run:
        """Raises OSError where there can be none."""
        ids = (os.getuid(), os.getgid())
        ours, theirs = socket.socketpair()
        try:
            child = k.clone(k.ALL_NAMESPACES if self._spaces else 0)
        except OSError:
            ours.close()
            theirs.close()
            raise
        if child:
            theirs.close()
            return _Spare(limits, ours)
        ours.close()
        self._control.close()
        return supervise(theirs, json.loads(limits), ids, self._spaces, self.kept.numbers)
