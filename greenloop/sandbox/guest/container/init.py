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
import sys
from collections.abc import Sequence

from ..files.collector import WANTED, collect
from ..files.writer import lay_out
from ..isolation import syscalls as k
from ..isolation.run_mounts import WORK
from ..isolation.seccomp import filter_program
from ..limits.namespace_usage import Usage
from ..protocol.framing import receive_frame, send_frame
from ..pytest_plugin.config import ini_file
from ..zygote import child as foreign
from ..zygote.file_descriptors import RESULT, Kept, apart, own_errors, own_streams
from ..zygote.monitor import Watch
from ..zygote.package_preload import preload_packages
from ..zygote.pytest_preload import hold_session, preload
from ..zygote.supervisor import Run, stand_alone
from .cleanup import empty
from .hardening import narrow
from .host_connection import Host
from .output_capture import Captured

_JOB_BYTES, _LIMIT_BYTES = 64 << 20, 65536
_PLACES = ("/tmp", "/dev/shm", "/dev/mqueue")


def main(modules: Sequence[str] = (), plugins: Sequence[str] = ()) -> None:
    """Serves one run after the other until the host goes away.

    `modules` of packages are loaded beforehand, as far as that is safe; `plugins` are packages
    whose plugins for pytest are.
    """
    host, kept = Host(), Kept()
    k.prctl(k.PR_SET_DUMPABLE, 0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    sys.dont_write_bytecode = True
    k.get_ready()
    preload()
    preload_packages(modules)
    with contextlib.suppress(OSError):  # made once, so that each run finds it
        filter_program(k.machine(), foreign.families(True))
    _make_clean()
    os.chdir(WORK)
    with kept.opened():
        hold_session(WORK, ini_file(), lambda: _next_run(host, kept), plugins)
    run = _next_run(host, kept)
    foreign.end(lambda: foreign.from_the_beginning(run.job, run.handle))


def _next_run(host: Host, kept: Kept) -> Run:
    """Returns in a run's process only; pid 1 ends herein, whatever happens."""
    kept.settle()
    foreign.hide_ours()
    gc.collect()
    gc.freeze()
    try:
        while True:
            _make_clean()
            send_frame(host, b"ready")
            limits = json.loads(receive_frame(host, _LIMIT_BYTES))
            run = _serve(host, limits, kept.numbers)
            if run is not None:
                return run
    except (EOFError, BrokenPipeError):
        os._exit(0)
    except BaseException as error:
        foreign.end_with(error, 1)


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


def _serve(host: Host, limits: dict[str, int], kept: frozenset[int]) -> Run | None:
    """One run, to its report: None. In its own process: the run."""
    begun, *streams = pipes = [os.pipe() for _ in range(5)]
    child = os.fork()
    if child == 0:
        return _become_the_run(host, begun[1], limits, [apart(item) for _, item in streams], kept)
    for _, theirs in pipes:
        os.close(theirs)
    try:
        trouble = _told(begun[0])
        if trouble != "begun":
            send_frame(host, json.dumps({"trouble": trouble or "the copy has died"}).encode())
            raise EOFError  # who knows how much of the run was read
        output, errors, result, where = (ours for ours, _ in streams)
        _report(host, child, limits, (output, errors, result, where))
    finally:
        for ours, _ in pipes:
            os.close(ours)
    return None


def _told(handle: int) -> str:
    """All that comes until the other end is closed."""
    told = b""
    while piece := os.read(handle, 4096):
        told += piece
    return told.decode("utf-8", "replace")


def _become_the_run(
    host: Host,
    begun: int,
    limits: dict[str, int],
    handles: list[int],
    kept: frozenset[int],
) -> Run:
    """In the copy: reads what it is to do, then is the foreign side."""
    try:
        job = json.loads(receive_frame(host, _JOB_BYTES))
        lay_out(job)
        os.write(begun, b"begun")
        os.close(begun)
    except BaseException as error:
        os.write(begun, f"{type(error).__name__}: {error}".encode("utf-8", "replace")[:1000])
        os._exit(125)
    try:
        stand_alone()
        output, errors, result, where = handles
        own_streams(output, result, where, kept | {errors})
        own_errors(errors, wanted=job["kind"] == "script")
        narrow()
        foreign.close_up(limits, True)
        foreign.enter(job, limits, True)
    except BaseException as error:
        foreign.end_with(error)
    return Run(job, RESULT)


def _report(
    host: Host, child: int, limits: dict[str, int], handles: tuple[int, int, int, int]
) -> None:
    usage, captured = _Usage(limits), Captured(limits)
    watch = Watch(host, child, captured, handles)
    ending = watch.until_the_end(limits["wall_ms"] / 1000, usage)
    if ending == "interrupted":
        raise EOFError("the host is gone")
    if not watch.ended_well():
        usage.look_last()
    status, peak_bytes = _end_everybody(child)
    watch.drain()
    watch.close()
    if ending == "timeout":
        captured.read_where(handles[3])
    head = {"ending": ending, "status": status, "hit": usage.hit(peak_bytes)}
    parts = [captured.output(), captured.result(), captured.where()]
    if WANTED in limits:
        head["cut"] = captured.cut()
        parts.append(captured.errors())
    send_frame(host, json.dumps(head).encode())
    for pieces in parts:
        host.send_pieces(pieces)
    captured.close()
    if WANTED in limits:
        _tell_what_was_made(host)


def _tell_what_was_made(host: Host) -> None:
    """The host says what is wanted of it; a copy takes that in, and looks: nothing of it stays here.

    Raises:
        EOFError: it came to nothing, and who knows how much was said.
    """
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            found = collect(WORK, json.loads(receive_frame(host, _JOB_BYTES)))
            for part in (json.dumps(found.account()).encode(), bytes(found.contents)):
                send_frame(host, part)
            os._exit(0)
        os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise EOFError


class _Usage(Usage):
    """Counts files too: not every engine can limit how many there are, and each takes memory."""

    def too_much(self) -> str:
        states = [os.statvfs(place) for place in ("/tmp", "/dev/shm")]
        if sum(item.f_files - item.f_ffree for item in states) <= self._limits["inodes"]:
            return super().too_much()
        self._hit.add("inodes")
        return "disk"


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
