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
from typing import Any

from ..entrypoints import load_entrypoints
from ..files.collector import COLLECT_FILES_KEY
from ..files.writer import write_job_files
from ..isolation import syscalls as k
from ..isolation.run_mounts import WORK_FOLDER, be_killed_first
from ..limits.usage import NamespaceUsage
from ..protocol.framing import receive_frame, send_frame
from ..protocol.output_buffers import OutputBuffers
from ..zygote import child as guest_child
from ..zygote.file_descriptors import GuestPipes
from ..zygote.monitor import send_artifacts, send_report, watch_run
from ..zygote.preload import preload, preload_pytest
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
    job = _wait_for_run(host)
    guest_child.exit_with(lambda: guest_child.run_job(job, entrypoints))


def _wait_for_run(host: HostConnection) -> dict[str, Any]:
    """Fork for each run, and return its job only in the fork; pid 1 never returns."""
    guest_child.unload_guest_modules()
    gc.collect()
    gc.freeze()
    gc.enable()
    try:
        while True:
            _reset_folders()
            send_frame(host, b"ready")
            limits = json.loads(receive_frame(host, _MAX_LIMITS_BYTES))
            if (job := _serve_run(host, limits)) is not None:
                return job
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


def _serve_run(host: HostConnection, limits: dict[str, int]) -> dict[str, Any] | None:
    """Fork for a run. In pid 1, report the run and return None; in the fork, return the job."""
    started, started_in = os.pipe()
    pipes = GuestPipes()
    child = os.fork()
    if child == 0:
        return _enter_guest(host, started_in, limits, pipes)
    os.close(started_in)
    pipes.close_guest_ends()
    try:
        trouble = _read_all(started)
        if trouble != "begun":
            send_frame(host, json.dumps({"trouble": trouble or "the copy has died"}).encode())
            raise EOFError  # an unknown part of the run's frame may be unread
        _report_run(host, child, limits, pipes)
    finally:
        os.close(started)
        pipes.close()
    return None


def _read_all(handle: int) -> str:
    """Read until the other end is closed."""
    data = b""
    while piece := os.read(handle, 4096):
        data += piece
    return data.decode("utf-8", "replace")


def _enter_guest(
    host: HostConnection, started_fd: int, limits: dict[str, int], pipes: GuestPipes
) -> dict[str, Any]:
    """In the fork: read the job, then limit this process for untrusted code; return the job."""
    try:
        job: dict[str, Any] = json.loads(receive_frame(host, _MAX_JOB_BYTES))
        write_job_files(job)
        os.write(started_fd, b"begun")
        os.close(started_fd)
    except BaseException as error:
        os.write(started_fd, f"{type(error).__name__}: {error}".encode("utf-8", "replace")[:1000])
        os._exit(125)
    try:
        guest_child.detach_process()
        be_killed_first()
        pipes.connect_guest(has_separate_errors=job["kind"] == "script")
        harden_process()
        guest_child.enter_run(job, limits, True)
    except BaseException as error:
        guest_child.exit_with_error(error)
    return job


def _report_run(
    host: HostConnection, child: int, limits: dict[str, int], pipes: GuestPipes
) -> None:
    """Watch a run to its end and send its output, reports and files to the host."""
    streams = OutputBuffers(limits)
    head = watch_run(host, child, pipes, streams, _ContainerUsage(limits), limits)
    if head["ending"] == "interrupted":
        raise EOFError("the host is gone")
    send_report(host, head, streams)
    if COLLECT_FILES_KEY in limits:
        _send_artifacts(host, streams)
    streams.close()


def _send_artifacts(host: HostConnection, streams: OutputBuffers) -> None:
    """Send standard error and the files in a fork, so that pid 1 keeps no data.

    Raises EOFError if the fork failed, after which an unknown part of the frames was sent.
    """
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            send_artifacts(host, streams, WORK_FOLDER)
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
