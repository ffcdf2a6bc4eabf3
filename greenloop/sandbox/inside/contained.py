"""Pid 1 of a container: pytest is loaded here, each run is a copy of it, and nothing of a run stays.

Over standard input come two frames a run. The first, its limits, is read here; the second, the run
itself, only by its copy: so nothing of one run is ever in the memory that the next is copied from.

The copy is an ordinary process of the same user, but nothing in a container can kill, stop or trace
its pid 1, which is not dumpable besides. At the end of a run pid 1 kills everybody else, and only
then reads what the run has reported. One run at a time: whoever else is there belongs to it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import struct
import sys
from typing import Any

from . import kernel as k
from . import zygote
from .captured import Captured
from .corner import WORK
from .frames import receive_frame, send_frame
from .narrowing import narrow
from .supervisor import become_the_run, drain, watch
from .usage import Usage
from .warm_pytest import ReadyPytest, preload
from .wiping import empty

_JOB_BYTES, _LIMIT_BYTES = 64 << 20, 65536
_PLACES = ("/tmp", "/dev/shm", "/dev/mqueue")


class Host:
    """The host, over the two pipes that were standard input and output."""

    def __init__(self) -> None:
        """Takes the pipes away from where others would write to them."""
        self._incoming, self._outgoing = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        os.close(nothing)

    def fileno(self) -> int:
        """Of the incoming pipe."""
        return self._incoming

    def recv(self, size: int, /) -> bytes:
        return os.read(self._incoming, size)

    def sendall(self, data: bytes | memoryview, /) -> None:
        with memoryview(data) as rest:
            sent = 0
            while sent < len(rest):
                sent += os.write(self._outgoing, rest[sent:])

    def send_pieces(self, pieces: list[memoryview]) -> None:
        """One frame out of several pieces, which are not put together in memory."""
        self.sendall(struct.pack("!Q", sum(map(len, pieces))))
        for piece in pieces:
            self.sendall(piece)
            piece.release()


def main() -> None:
    """Serves one run after the other until the host goes away."""
    host = Host()
    k.prctl(k.PR_SET_DUMPABLE, 0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    sys.dont_write_bytecode = True
    preload()
    _make_clean()
    ready = zygote.made_ready()
    gc.collect()
    gc.freeze()
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            _make_clean()
            send_frame(host, b"ready")
            _serve(host, json.loads(receive_frame(host, _LIMIT_BYTES)), ready)
    os._exit(0)


def _make_clean() -> None:
    """As if nobody had ever been here; by a copy, because names of files are a run's too.

    Raises:
        OSError: something resists; this container is not to be used again.
    """
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            for place in filter(os.path.isdir, _PLACES):
                empty(place)
            for folder in (WORK, "/tmp/home", "/tmp/tmp"):
                os.mkdir(folder, 0o700)
            os._exit(0)
        os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise OSError("what a run has left cannot be taken away")


def _serve(host: Host, limits: dict[str, int], ready: ReadyPytest | None) -> None:
    begun, output, result = os.pipe(), os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        for handle in (begun[0], output[0], result[0]):
            os.close(handle)
        _become_a_copy(host, begun[1], (output[1], result[1]), ready)
    for handle in (begun[1], output[1], result[1]):
        os.close(handle)
    try:
        trouble = _told(begun[0])
        if trouble != "begun":
            send_frame(host, json.dumps({"trouble": trouble or "the copy has died"}).encode())
            raise EOFError  # who knows how much of the run was read
        _report(host, child, limits, (output[0], result[0]))
    finally:
        for handle in (begun[0], output[0], result[0]):
            os.close(handle)


def _told(handle: int) -> str:
    """All that comes until the other end is closed."""
    told = b""
    while piece := os.read(handle, 4096):
        told += piece
    return told.decode("utf-8", "replace")


def _become_a_copy(
    host: Host, begun: int, handles: tuple[int, int], ready: ReadyPytest | None
) -> None:
    """The run's own process: reads what it is to do, then is the foreign side. Never returns."""
    try:
        job = json.loads(receive_frame(host, _JOB_BYTES))
        for path, text in job.pop("files").items():
            with open(path, "xb") as file:
                file.write(text.encode("utf-8", "surrogatepass"))
        os.write(begun, b"begun")
        os.close(begun)
    except BaseException as error:
        os.write(begun, f"{type(error).__name__}: {error}".encode("utf-8", "replace")[:1000])
        os._exit(125)
    become_the_run(job, *handles, True, lambda job, out, _: _foreign(job, out, ready))


def _foreign(job: dict[str, Any], handle: int, ready: ReadyPytest | None) -> int:
    narrow()
    return zygote.foreign(job, handle, True, ready)


def _report(host: Host, child: int, limits: dict[str, int], handles: tuple[int, int]) -> None:
    usage, captured = _Usage(limits), Captured(limits)
    ending = watch(host, child, captured, handles, limits, usage)
    if ending == "interrupted":
        raise EOFError("the host is gone")
    usage.look()
    status, peak_bytes = _end_everybody(child)
    for handle, name in zip(handles, ("output", "result"), strict=True):
        drain(handle, name, captured)
    head = {"ending": ending, "status": status, "hit": usage.hit(peak_bytes)}
    send_frame(host, json.dumps(head).encode())
    host.send_pieces(captured.output())
    host.send_pieces(captured.result())
    captured.close()


class _Usage(Usage):
    """Counts files too: not every engine can limit how many there are, and each takes memory."""

    def __init__(self, limits: dict[str, int]) -> None:
        super().__init__(limits, True)
        self._most_files = limits["inodes"]

    def too_much(self) -> bool:
        states = [os.statvfs(place) for place in ("/tmp", "/dev/shm")]
        files = sum(item.f_files - item.f_ffree for item in states)
        return files > self._most_files or super().too_much()


def _end_everybody(child: int) -> tuple[int, int]:
    """Nobody is left who could still write. The child's exit status and most memory, in bytes."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    found = -signal.SIGKILL, 0
    with contextlib.suppress(ChildProcessError):  # all orphans come to pid 1: this is all there are
        while True:
            pid, status, used = os.wait4(-1, 0)
            if pid == child:
                found = os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024
    return found
