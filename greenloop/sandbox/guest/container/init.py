"""Pid 1 of a container: loads pytest once and forks for each run, one run at a time.

A run arrives as two frames on standard input. Pid 1 reads only the first frame, the limits; the
fork reads the second, the job, so that no later fork has it in memory.

The fork has the same user, but no process of a container can kill, stop or trace its pid 1, which
is not dumpable either. At the end of a run pid 1 kills all other processes before it reads the
reports.
"""

import contextlib
import gc
import json
import os
import signal
import sys

from ..entrypoints import load_entrypoints
from ..files.collector import COLLECT_FILES_KEY, collect_created_files
from ..files.writer import write_job_files
from ..isolation import syscalls as k
from ..isolation.run_mounts import WORK_FOLDER, be_killed_first
from ..limits.usage import NamespaceUsage
from ..protocol.framing import receive_frame, send_frame
from ..protocol.output_buffers import OutputBuffers
from ..zygote import child as guest_child
from ..zygote.file_descriptors import (
    RESULT_FD,
    duplicate_high,
    redirect_stderr,
    redirect_streams,
)
from ..zygote.monitor import RunMonitor
from ..zygote.preload import preload, preload_pytest
from ..zygote.supervisor import GuestRun, detach_process
from .cleanup import empty_folder
from .hardening import harden_process
from .host_connection import HostConnection

_MAX_JOB_BYTES, _MAX_LIMITS_BYTES = 64 << 20, 65536
_WRITABLE_FOLDERS = ("/tmp", "/dev/shm", "/dev/mqueue")


def main() -> None:
    """Serve runs, one after the other, until the host closes the connection."""
    if os.getpid() != 1:
        sys.exit("not in a container: /tmp would be emptied")
    host = HostConnection()
    k.prctl(k.PR_SET_DUMPABLE, 0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    preload(guest_child.socket_families(True))
    preload_pytest()
    entrypoints = load_entrypoints()
    _reset_folders()
    os.chdir(WORK_FOLDER)
    run = _wait_for_run(host)
    guest_child.exit_with(lambda: guest_child.run_job(*run, entrypoints))


def _wait_for_run(host: HostConnection) -> GuestRun:
    """Fork for each run, and return only in the forks; pid 1 never returns."""
    guest_child.unload_guest_modules()
    gc.collect()
    gc.freeze()
    gc.enable()
    try:
        while True:
            _reset_folders()
            send_frame(host, b"ready")
            limits = json.loads(receive_frame(host, _MAX_LIMITS_BYTES))
            run = _serve_run(host, limits)
            if run is not None:
                return run
    except (EOFError, BrokenPipeError):
        os._exit(0)
    except BaseException as error:
        guest_child.exit_with_error(error, 1)


def _reset_folders() -> None:
    """Empty the writable folders in a fork, because file names are data of a run too.

    Raises OSError if something cannot be removed; the container must then not be used again.
    """
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            for folder in filter(os.path.isdir, _WRITABLE_FOLDERS):
                empty_folder(folder)
            for folder in (WORK_FOLDER, "/tmp/home", "/tmp/tmp"):
                os.mkdir(folder, 0o700)
            os._exit(0)
        os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise OSError("files of a run cannot be removed")


def _serve_run(host: HostConnection, limits: dict[str, int]) -> GuestRun | None:
    """Fork for a run. In pid 1, report the run and return None; in the fork, return the run."""
    started, *streams = pipes = [os.pipe() for _ in range(5)]
    child = os.fork()
    if child == 0:
        handles = [duplicate_high(write_end) for _, write_end in streams]
        return _prepare_guest_process(host, started[1], limits, handles)
    for _, write_end in pipes:
        os.close(write_end)
    try:
        trouble = _read_all(started[0])
        if trouble != "begun":
            send_frame(host, json.dumps({"trouble": trouble or "the copy has died"}).encode())
            raise EOFError  # an unknown part of the run's frame may be unread
        output, errors, result, stack_dump = (read_end for read_end, _ in streams)
        _report_run(host, child, limits, (output, errors, result, stack_dump))
    finally:
        for read_end, _ in pipes:
            os.close(read_end)
    return None


def _read_all(handle: int) -> str:
    """Read until the other end is closed."""
    data = b""
    while piece := os.read(handle, 4096):
        data += piece
    return data.decode("utf-8", "replace")


def _prepare_guest_process(
    host: HostConnection, started_fd: int, limits: dict[str, int], handles: list[int]
) -> GuestRun:
    """In the fork: read the job, then limit this process for untrusted code."""
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
        be_killed_first()
        output, errors, result, stack_dump = handles
        redirect_streams(output, result, stack_dump, (errors,))
        redirect_stderr(errors, is_separate=job["kind"] == "script")
        harden_process()
        guest_child.drop_privileges(limits, True)
        guest_child.enter_run(job, limits, True)
    except BaseException as error:
        guest_child.exit_with_error(error)
    return GuestRun(job, RESULT_FD)


def _report_run(
    host: HostConnection, child: int, limits: dict[str, int], handles: tuple[int, int, int, int]
) -> None:
    """Watch a run to its end and send its output and reports to the host."""
    usage, captured = _ContainerUsage(limits), OutputBuffers(limits)
    monitor = RunMonitor(host.fileno(), child, captured, handles)
    ending = monitor.wait(limits["wall_ms"] / 1000, usage)
    if ending == "interrupted":
        raise EOFError("the host is gone")
    if not monitor.has_exited_cleanly():
        usage.measure_final()
    status, peak_bytes = _kill_all_and_reap(child)
    monitor.drain()
    monitor.close()
    if ending == "timeout":
        captured.read_stack_dump(handles[3])
    head = {"ending": ending, "status": status, "hit": usage.list_reached_limits(peak_bytes)}
    sends_files = COLLECT_FILES_KEY in limits
    if sends_files:
        head["cut"] = captured.list_truncated_streams()
    send_frame(host, json.dumps(head).encode())
    for pieces in captured.pieces(with_errors=sends_files):
        host.send_frame_pieces(pieces)
    captured.close()
    if sends_files:
        _send_created_files(host)


def _send_created_files(host: HostConnection) -> None:
    """Receive the host's request for files and send them, in a fork so that pid 1 keeps no data.

    Raises EOFError if the fork failed, after which an unknown part of the frames was sent.
    """
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            request = json.loads(receive_frame(host, _MAX_JOB_BYTES))
            found = collect_created_files(WORK_FOLDER, request)
            for part in (json.dumps(found.to_summary()).encode(), bytes(found.contents)):
                send_frame(host, part)
            os._exit(0)
        os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise EOFError


class _ContainerUsage(NamespaceUsage):
    """Usage with the number of files, which take memory and which not every engine can limit."""

    def check_limits(self) -> str:
        states = [os.statvfs(place) for place in ("/tmp", "/dev/shm")]
        if sum(item.f_files - item.f_ffree for item in states) <= self._limits["inodes"]:
            return super().check_limits()
        self._reached.add("inodes")
        return "disk"


def _kill_all_and_reap(child: int) -> tuple[int, int]:
    """Kill all other processes; return the child's exit status and peak memory in bytes."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    found = -signal.SIGKILL, 0
    with contextlib.suppress(ChildProcessError):  # no child is left; pid 1 adopts orphans
        while True:
            pid, status, used = os.wait4(-1, 0)
            if pid == child:
                found = os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024
    return found
