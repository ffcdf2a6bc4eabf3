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

from ..files.collector import COLLECT_FILES_KEY, collect_created_files
from ..files.writer import write_job_files
from ..isolation import syscalls as k
from ..isolation.run_mounts import WORK_FOLDER
from ..isolation.seccomp import build_filter
from ..limits.namespace_usage import NamespaceUsage
from ..protocol.framing import receive_frame, send_frame
from ..pytest_plugin.config import ini_file
from ..zygote import child as foreign
from ..zygote.file_descriptors import (
    RESULT_FD,
    InheritedDescriptors,
    duplicate_high,
    redirect_stderr,
    redirect_streams,
)
from ..zygote.monitor import RunMonitor
from ..zygote.package_preload import preload_packages
from ..zygote.pytest_preload import hold_session, preload_modules
from ..zygote.supervisor import GuestRun, detach_process
from .cleanup import empty_folder
from .hardening import harden_process
from .host_connection import HostConnection
from .output_capture import OutputCapture

_MAX_JOB_BYTES, _MAX_LIMITS_BYTES = 64 << 20, 65536
_WRITABLE_FOLDERS = ("/tmp", "/dev/shm", "/dev/mqueue")


def main(modules: Sequence[str] = (), plugins: Sequence[str] = ()) -> None:
    """Serves one run after the other until the host goes away.

    `modules` of packages are loaded beforehand, as far as that is safe; `plugins` are packages
    whose plugins for pytest are.
    """
    host, kept = HostConnection(), InheritedDescriptors()
    k.prctl(k.PR_SET_DUMPABLE, 0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    sys.dont_write_bytecode = True
    k.load_functions()
    preload_modules()
    preload_packages(modules)
    with contextlib.suppress(OSError):  # made once, so that each run finds it
        build_filter(k.machine(), foreign.socket_families(True))
    _reset_folders()
    os.chdir(WORK_FOLDER)
    with kept.recording():
        hold_session(WORK_FOLDER, ini_file(), lambda: _wait_for_run(host, kept), plugins)
    run = _wait_for_run(host, kept)
    foreign.exit_with(lambda: foreign.run_cold(run.job, run.result_fd))


def _wait_for_run(host: HostConnection, inherited: InheritedDescriptors) -> GuestRun:
    """Returns in a run's process only; pid 1 ends herein, whatever happens."""
    inherited.finish_recording()
    foreign.unload_guest_modules()
    gc.collect()
    gc.freeze()
    try:
        while True:
            _reset_folders()
            send_frame(host, b"ready")
            limits = json.loads(receive_frame(host, _MAX_LIMITS_BYTES))
            run = _serve_run(host, limits, inherited.fds)
            if run is not None:
                return run
    except (EOFError, BrokenPipeError):
        os._exit(0)
    except BaseException as error:
        foreign.exit_with_error(error, 1)


def _reset_folders() -> None:
    """As if nobody had ever been here; by a copy, because names of files are a run's too.

    Raises:
        OSError: something resists; this container is not to be used again.
    """
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            for place in filter(os.path.isdir, _WRITABLE_FOLDERS):
                empty_folder(place)
            for folder in (WORK_FOLDER, "/tmp/home", "/tmp/tmp"):
                os.mkdir(folder, 0o700)
            os._exit(0)
        os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise OSError("what a run has left cannot be taken away")


def _serve_run(
    host: HostConnection, limits: dict[str, int], inherited_fds: frozenset[int]
) -> GuestRun | None:
    """One run, to its report: None. In its own process: the run."""
    begun, *streams = pipes = [os.pipe() for _ in range(5)]
    child = os.fork()
    if child == 0:
        return _prepare_guest_process(
            host, begun[1], limits, [duplicate_high(item) for _, item in streams], inherited_fds
        )
    for _, theirs in pipes:
        os.close(theirs)
    try:
        trouble = _read_all(begun[0])
        if trouble != "begun":
            send_frame(host, json.dumps({"trouble": trouble or "the copy has died"}).encode())
            raise EOFError  # who knows how much of the run was read
        output, errors, result, where = (ours for ours, _ in streams)
        _report_run(host, child, limits, (output, errors, result, where))
    finally:
        for ours, _ in pipes:
            os.close(ours)
    return None


def _read_all(handle: int) -> str:
    """All that comes until the other end is closed."""
    told = b""
    while piece := os.read(handle, 4096):
        told += piece
    return told.decode("utf-8", "replace")


def _prepare_guest_process(
    host: HostConnection,
    started_fd: int,
    limits: dict[str, int],
    handles: list[int],
    inherited_fds: frozenset[int],
) -> GuestRun:
    """In the copy: reads what it is to do, then is the foreign side."""
    try:
        job = json.loads(receive_frame(host, _MAX_JOB_BYTES))
        write_job_files(job)
        os.write(started_fd, b"begun")
        os.close(started_fd)
    except BaseException as error:
        os.write(started_fd, f"{type(error).__name__}: {error}".encode("utf-8", "replace")[:1000])
        os._exit(125)
    try:
        detach_process()
        output, errors, result, where = handles
        redirect_streams(output, result, where, inherited_fds | {errors})
        redirect_stderr(errors, is_separate=job["kind"] == "script")
        harden_process()
        foreign.drop_privileges(limits, True)
        foreign.enter_run(job, limits, True)
    except BaseException as error:
        foreign.exit_with_error(error)
    return GuestRun(job, RESULT_FD)


def _report_run(
    host: HostConnection, child: int, limits: dict[str, int], handles: tuple[int, int, int, int]
) -> None:
    usage, captured = _ContainerUsage(limits), OutputCapture(limits)
    watch = RunMonitor(host, child, captured, handles)
    ending = watch.wait(limits["wall_ms"] / 1000, usage)
    if ending == "interrupted":
        raise EOFError("the host is gone")
    if not watch.has_exited_cleanly():
        usage.measure_final()
    status, peak_bytes = _kill_all_and_reap(child)
    watch.drain()
    watch.close()
    if ending == "timeout":
        captured.read_stack_dump(handles[3])
    head = {"ending": ending, "status": status, "hit": usage.reached_limits(peak_bytes)}
    parts = [captured.output(), captured.result(), captured.stack_dump()]
    if COLLECT_FILES_KEY in limits:
        head["cut"] = captured.truncated_streams()
        parts.append(captured.errors())
    send_frame(host, json.dumps(head).encode())
    for pieces in parts:
        host.send_frame_pieces(pieces)
    captured.close()
    if COLLECT_FILES_KEY in limits:
        _send_created_files(host)


def _send_created_files(host: HostConnection) -> None:
    """The host says what is wanted of it; a copy takes that in, and looks: nothing of it stays here.

    Raises:
        EOFError: it came to nothing, and who knows how much was said.
    """
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            found = collect_created_files(
                WORK_FOLDER, json.loads(receive_frame(host, _MAX_JOB_BYTES))
            )
            for part in (json.dumps(found.to_summary()).encode(), bytes(found.contents)):
                send_frame(host, part)
            os._exit(0)
        os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise EOFError


class _ContainerUsage(NamespaceUsage):
    """Counts files too: not every engine can limit how many there are, and each takes memory."""

    def check_limits(self) -> str:
        states = [os.statvfs(place) for place in ("/tmp", "/dev/shm")]
        if sum(item.f_files - item.f_ffree for item in states) <= self._limits["inodes"]:
            return super().check_limits()
        self._reached.add("inodes")
        return "disk"


def _kill_all_and_reap(child: int) -> tuple[int, int]:
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
