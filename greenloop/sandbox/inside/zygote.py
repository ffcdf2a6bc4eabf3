"""The process that is copied for each run: pytest is loaded, nothing of any run is in it.

On the control socket come run sockets, one message each; the zygote itself never reads what is on
them.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
from typing import Any

from . import foreign
from . import kernel as k
from .corner import WORK
from .frames import send_frame
from .seccomp import filter_program
from .supervisor import supervise
from .warm_pytest import hold_session, preload

_ABOVE_RESULT = 4  # descriptors below it are a run's own: input, output, errors, result


def main(control_fd: int, spaces: bool) -> None:
    """Serves until the host goes away. `spaces`: each run gets namespaces of its own."""
    control = socket.socket(fileno=control_fd)
    control.set_inheritable(False)
    sys.dont_write_bytecode = True
    preload()
    with contextlib.suppress(OSError):  # made once, so that each run finds it
        filter_program(k.machine(), foreign.families(spaces))
    copies = Copies(control, spaces)
    if spaces:
        os.chdir(WORK)
        with copies.keeping():
            hold_session(WORK, foreign.ini_file(), copies.next_run)
    foreign.end(lambda: foreign.from_the_beginning(*copies.next_run()))


class Copies:
    """Makes a copy of this process for each run that the host asks for."""

    def __init__(self, control: socket.socket, spaces: bool) -> None:
        self._control, self._spaces = control, spaces
        self._before: frozenset[int] | None = None
        self._streams: list[int] = []

    @contextlib.contextmanager
    def keeping(self) -> Any:
        """What is opened herein stays open in copies: it is the null device, whatever it is for."""
        nothing = os.open(os.devnull, os.O_RDWR)
        while nothing < _ABOVE_RESULT:
            nothing = os.dup(nothing)
        self._streams = [os.dup(number) for number in (1, 2)]
        for number in (1, 2):
            os.dup2(nothing, number)
        self._before = _open_files()
        try:
            yield
        finally:
            self._before = None
            self._give_back()

    def next_run(self) -> tuple[dict[str, Any], int]:
        """A run's job and the descriptor for its results. Returns in that run's process only."""
        kept = _open_files() - self._before if self._before is not None else frozenset()
        self._give_back()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended copies are cleared away by themselves
        gc.collect()
        gc.freeze()
        self._control.send(b"ready")
        while True:
            select.select([self._control], [], [])
            message, handles, _, _ = socket.recv_fds(self._control, 64, 1)
            if not message:
                os._exit(0)
            started = self._start(handles[0], kept)
            if started is not None:
                return started

    def _start(self, handle: int, kept: frozenset[int]) -> tuple[dict[str, Any], int] | None:
        """None in the zygote."""
        ids = (os.getuid(), os.getgid())
        try:
            child = k.clone(k.ALL_NAMESPACES if self._spaces else 0)
        except OSError as error:  # for want of memory or namespaces: the next may go well again
            _say(socket.socket(fileno=handle), error)
            return None
        if child:
            os.close(handle)
            return None
        run = socket.socket(fileno=handle)
        try:
            self._control.close()
            return supervise(run, ids, self._spaces, kept)
        except BaseException as error:
            _say(run, error)
        os._exit(111)

    def _give_back(self) -> None:
        for number, saved in zip((1, 2), self._streams, strict=False):
            os.dup2(saved, number)
            os.close(saved)
        self._streams = []


def _open_files() -> frozenset[int]:
    names = os.listdir("/proc/self/fd")
    return frozenset(number for number in map(int, names) if os.path.exists(f"/proc/self/fd/{number}"))


def _say(run: socket.socket, error: BaseException) -> None:
    """Tells the host why this run could not be begun."""
    text = f"{type(error).__name__}: {error}"[:1000]
    with run, contextlib.suppress(OSError):
        send_frame(run, json.dumps({"trouble": text}).encode())
