"""Supervisor, pid 1 of a run: sets up isolation, starts and watches untrusted code, reports.

When it exits, the kernel kills all processes left in its pid namespace. It is not dumpable, so
untrusted code can neither read nor trace it, and it kills all other processes before it reads
reports.
"""

import contextlib
import json
import os
import signal
import socket
from typing import Any

from ..files.collector import COLLECT_FILES_KEY
from ..files.writer import write_job_files
from ..isolation import landlock_run, run_mounts
from ..isolation import syscalls as k
from ..limits.process_usage import ProcessUsage
from ..limits.usage import NamespaceUsage
from ..protocol.framing import receive_frame, send_frame
from ..protocol.output_buffers import OutputBuffers
from . import child as guest_child
from .file_descriptors import GuestPipes
from .monitor import send_artifacts, send_report, watch_run

_MAX_JOB_BYTES = 64 << 20


def supervise(
    run: socket.socket,
    limits: dict[str, int],
    ids: tuple[int, int],
    has_namespaces: bool,
    first_pid: int,
) -> dict[str, Any]:
    """Supervise one run, from isolation to report; exit after the report.

    The job arrives on the socket `run`. Return it only in the child process, which then runs
    untrusted code.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        pipes = GuestPipes()
        if has_namespaces:
            run_mounts.set_up_mounts(limits, ids, first_pid)
        else:
            run_mounts.be_killed_first()
        job = _receive_job(run, pipes, has_namespaces)
        k.prctl(k.PR_SET_DUMPABLE, 0)
        child = os.fork()
    except BaseException as error:
        send_startup_error(run, error)
        os._exit(111)
    if child == 0:
        run.detach()  # closed with all descriptors that are not the guest's
        return _enter_guest(job, pipes, limits, has_namespaces)
    try:
        usage = (
            NamespaceUsage(limits) if has_namespaces else ProcessUsage(limits, child, job["root"])
        )
        pipes.close_guest_ends()
        streams = OutputBuffers(limits)
        send_report(run, watch_run(run, child, pipes, streams, usage, limits), streams)
        if COLLECT_FILES_KEY in limits:
            send_artifacts(run, streams, job["work"])
        run.close()
        os._exit(0)
    finally:  # an error here must not look like a run that never began
        os._exit(112)


def _receive_job(run: socket.socket, pipes: GuestPipes, has_namespaces: bool) -> dict[str, Any]:
    """Receive the job and write its files; without namespaces, become the run's user first."""
    job: dict[str, Any] = json.loads(receive_frame(run, _MAX_JOB_BYTES))
    if has_namespaces:
        run_mounts.rename_folders(job["work"], job["environment"]["HOME"])
    else:
        landlock_run.set_up_run_folders(job, (pipes.output, pipes.errors, pipes.result))
    write_job_files(job)
    return job


def send_startup_error(run: socket.socket, error: BaseException) -> None:
    """Report to the host why this run could not be started."""
    text = f"{type(error).__name__}: {error}"[:1000]
    with run, contextlib.suppress(OSError):
        send_frame(run, json.dumps({"trouble": text}).encode())


def _enter_guest(
    job: dict[str, Any], pipes: GuestPipes, limits: dict[str, int], has_namespaces: bool
) -> dict[str, Any]:
    """In the child: limit this process for untrusted code, and return the job."""
    try:
        guest_child.detach_process()
        pipes.connect_guest(has_separate_errors=job["kind"] == "script")
        guest_child.enter_run(job, limits, has_namespaces)
    except BaseException as error:
        guest_child.exit_with_error(error)
    return job
