"""Pid 1 of one run: builds its private corner, starts the foreign code as pid 2, watches it, reports.

When it exits, the kernel ends everything that is left in its pid namespace. It is not dumpable, so
foreign code can neither read nor trace it, and it ends everybody else before it reads the result.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import time
from typing import Any, Protocol

from . import corner
from . import kernel as k
from .frames import receive_frame, send_frame
from .streams import Streams
from .usage import Usage

_JOB_BYTES = 64 << 20
_WATCH_S = 0.05
_KILLED_FIRST = "1000"  # by the kernel, where the whole machine runs out of memory


class Watched(Protocol):
    """The way to the host, of which one has to know only whether it is still there."""

    def fileno(self) -> int: ...


class Readable(Protocol):
    """What takes in what a run writes; see `Streams.read`."""

    def read(self, handle: int, name: str) -> bool | None: ...


def supervise(run: socket.socket, ids: tuple[int, int], spaces: bool, work: Any) -> None:
    """One run, from its job (a frame on `run`) to its report. `work(job, handle)` is the code."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)
    job = json.loads(receive_frame(run, _JOB_BYTES))
    if spaces:
        corner.build(job["limits"], ids)
    else:
        k.prctl(k.PR_SET_CHILD_SUBREAPER, 1)
    _write_files(job.pop("files"))
    k.prctl(k.PR_SET_DUMPABLE, 0)
    output, result = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        become_the_run(job, output[1], result[1], spaces, work)
    for handle in (output[1], result[1]):
        os.close(handle)
    try:
        _report(
            run, child, Streams.within(job["limits"]), (output[0], result[0]), job["limits"], spaces
        )
    finally:  # an error here is no report, and must not read like a run that never began
        os._exit(112)


def _write_files(files: dict[str, str]) -> None:
    for path, text in files.items():
        with open(path, "xb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))


def become_the_run(job: dict[str, Any], output: int, result: int, spaces: bool, work: Any) -> None:
    """In the child: the foreign side from here on. Never returns."""
    try:
        k.prctl(k.PR_SET_DUMPABLE, 1)
        with open("/proc/self/oom_score_adj", "w", encoding="utf-8") as file:
            file.write(_KILLED_FIRST)
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        handle = os.dup2(result, 3, inheritable=False) if result != 3 else 3
        os.set_inheritable(3, False)
        os.closerange(4, 4096)
        os._exit(work(job, handle, spaces))
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode("utf-8", "replace")[:2000])
    os._exit(125)


def _report(
    run: socket.socket,
    child: int,
    streams: Streams,
    handles: tuple[int, int],
    limits: dict[str, int],
    spaces: bool,
) -> None:
    usage = Usage(limits, spaces)
    ending = watch(run, child, streams, handles, limits, usage)
    usage.look()
    _end_everybody(child, spaces)
    status, peak_bytes = _reap(child)
    for handle, name in zip(handles, ("output", "result"), strict=True):
        drain(handle, name, streams)
    head = {"ending": ending, "status": status, "hit": usage.hit(peak_bytes)}
    for part in (json.dumps(head).encode(), streams.output(), bytes(streams.result)):
        send_frame(run, part)
    run.close()
    os._exit(0)


def watch(
    run: Watched,
    child: int,
    streams: Readable,
    handles: tuple[int, int],
    limits: dict[str, int],
    usage: Usage,
) -> str:
    """Waits for the end of the child, or ends the waiting: how it was."""
    names = {handles[0]: "output", handles[1]: "result"}
    alive = os.pidfd_open(child)
    poll = select.poll()
    for handle in handles:
        os.set_blocking(handle, False)
        poll.register(handle, select.POLLIN)
    poll.register(alive, select.POLLIN)
    poll.register(run, select.POLLIN | select.POLLHUP)
    deadline = time.monotonic() + limits["wall_ms"] / 1000
    try:
        while True:
            for handle, _ in poll.poll(_WATCH_S * 1000):
                if handle == alive:
                    return "finished"
                if handle == run.fileno():
                    return "interrupted"
                state = drain(handle, names[handle], streams)
                if state is False:
                    return "output"
                if state is None:
                    poll.unregister(handle)
            if time.monotonic() > deadline:
                return "timeout"
            if usage.too_much():
                return "memory"
    finally:
        os.close(alive)


def drain(handle: int, name: str, streams: Readable) -> bool | None:
    """Reads what is there: True; False where too much came; None where nothing more will come."""
    for _ in range(64):
        try:
            state = streams.read(handle, name)
        except BlockingIOError:
            return True
        if not state:
            return state
    return True


def _end_everybody(child: int, spaces: bool) -> None:
    """Before the result is read: nobody is left who could still write to it."""
    try:
        if spaces:
            os.kill(-1, signal.SIGKILL)
        else:
            os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    if not spaces:
        _sweep(child)


def _sweep(child: int) -> None:
    """Without a pid namespace: orphans come to us, the subreaper; we end them one by one."""
    path = f"/proc/self/task/{os.getpid()}/children"
    for _ in range(100):
        with open(path, encoding="utf-8") as file:
            others = [int(item) for item in file.read().split() if int(item) != child]
        if not others:
            return
        for pid in others:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _reap(child: int) -> tuple[int, int]:
    """The exit status, and the most bytes of memory that one of its processes had."""
    try:
        _, status, used = os.wait4(child, 0)
    except ChildProcessError:
        return -signal.SIGKILL, 0
    return os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024
