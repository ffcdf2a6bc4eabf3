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
from typing import Any, NamedTuple

from ..files import collector
from ..files.writer import write_job_files
from ..isolation import landlock_run, run_mounts
from ..isolation import syscalls as k
from ..limits.process_usage import ProcessUsage
from ..limits.usage import NamespaceUsage
from ..protocol.framing import receive_frame, send_frame
from ..protocol.output_buffers import OutputBuffers
from . import child as guest_child
from .file_descriptors import RESULT_FD, duplicate_high, redirect_stderr, redirect_streams
from .monitor import RunMonitor

_MAX_JOB_BYTES = 64 << 20
RUNNING_NAME = "gl-run"


class GuestRun(NamedTuple):
    """The job of a run's process, and the descriptor for its reports."""

    job: dict[str, Any]
    result_fd: int


def supervise(
    run: socket.socket,
    limits: dict[str, int],
    ids: tuple[int, int],
    has_namespaces: bool,
    first_pid: int,
) -> GuestRun:
    """Supervise one run, from isolation to report; exit after the report.

    The job arrives on the socket `run`. Return only in the child process, which then runs untrusted
    code.
    """
    k.name_process(RUNNING_NAME)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        pipes = _Pipes()
        if has_namespaces:
            run_mounts.set_up_mounts(limits, ids, first_pid)
        k.prctl(k.PR_SET_DUMPABLE, 0)
        child = os.fork()
    except BaseException as error:
        send_startup_error(run, error)
        os._exit(111)
    if child == 0:
        run.detach()  # closed with all descriptors that are not the guest's
        return _prepare_guest_process(pipes, limits, has_namespaces)
    try:
        pipes.close_guest_ends()
        root, request = _send_job(run, pipes, has_namespaces)
    except BaseException as error:
        send_startup_error(run, error)
        os._exit(111)
    usage = NamespaceUsage(limits) if has_namespaces else ProcessUsage(limits, child, root)
    try:
        _report_run(run, child, OutputBuffers(limits), pipes, limits, usage, request)
    finally:  # an error here must not look like a run that never began
        os._exit(112)


class _Pipes:
    """Pipes from a run (output, separate errors, reports, stack dump) and to it (the job)."""

    def __init__(self) -> None:
        self.output, self.output_in = os.pipe()
        self.errors, self.errors_in = os.pipe()
        self.result, self.result_in = os.pipe()
        self.stack_dump, self.stack_dump_in = os.pipe()
        self.job, self.job_in = os.pipe()

    def close_guest_ends(self) -> None:
        ends = (self.output_in, self.errors_in, self.result_in, self.stack_dump_in, self.job)
        for handle in ends:
            os.close(handle)


class _FileRequest(NamedTuple):
    """Working folder of a run, and the host's request for its new files (see `collector`)."""

    work: str
    request: dict[str, Any]


def _send_job(
    run: socket.socket, pipes: _Pipes, has_namespaces: bool
) -> tuple[str, _FileRequest | None]:
    """Send the job to the child; return the run's folder ('' in namespaces) and file request."""
    job = json.loads(receive_frame(run, _MAX_JOB_BYTES))
    if not has_namespaces:
        landlock_run.set_up_run_folders(job, (pipes.output, pipes.errors, pipes.result))
    else:
        run_mounts.rename_folders(job["work"], job["environment"]["HOME"])
    write_job_files(job)
    request = job.pop("wanted")
    with contextlib.suppress(BrokenPipeError), open(pipes.job_in, "wb") as pipe:
        pipe.write(json.dumps(job).encode())
    return str(job.get("root", "")), _FileRequest(job["work"], request) if request else None


def send_startup_error(run: socket.socket, error: BaseException) -> None:
    """Report to the host why this run could not be started."""
    text = f"{type(error).__name__}: {error}"[:1000]
    with run, contextlib.suppress(OSError):
        send_frame(run, json.dumps({"trouble": text}).encode())


def _prepare_guest_process(pipes: _Pipes, limits: dict[str, int], has_namespaces: bool) -> GuestRun:
    """In the child: apply what does not depend on the job, read the job, enter the run."""
    try:
        detach_process()
        if not has_namespaces:
            run_mounts.be_killed_first()
        job, errors = map(duplicate_high, (pipes.job, pipes.errors_in))
        redirect_streams(pipes.output_in, pipes.result_in, pipes.stack_dump_in, (job, errors))
        guest_child.drop_privileges(limits, has_namespaces)
        content = _read_job(job)
        redirect_stderr(errors, is_separate=content["kind"] == "script")
        guest_child.enter_run(content, limits, has_namespaces)
        return GuestRun(content, RESULT_FD)
    except BaseException as error:
        guest_child.exit_with_error(error)


def detach_process() -> None:
    """Make this process dumpable, and the leader of a session."""
    k.prctl(k.PR_SET_DUMPABLE, 1)
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as an interpreter sets it


def _read_job(handle: int) -> dict[str, Any]:
    with open(handle, "rb") as pipe:
        content: dict[str, Any] = json.loads(pipe.read())
    return content


def _report_run(
    run: socket.socket,
    child: int,
    streams: OutputBuffers,
    pipes: _Pipes,
    limits: dict[str, int],
    usage: NamespaceUsage | ProcessUsage,
    file_request: _FileRequest | None,
) -> None:
    """Watch a run to its end, send its output and reports, and exit."""
    handles = (pipes.output, pipes.errors, pipes.result, pipes.stack_dump)
    monitor = RunMonitor(run.fileno(), child, streams, handles)

    def send_progress(done: int) -> None:
        with contextlib.suppress(OSError):  # the host is gone, as the monitor will see
            send_frame(run, json.dumps({"done": done}).encode())

    ending = monitor.wait(limits["wall_ms"] / 1000, usage, send_progress)
    if not monitor.has_exited_cleanly():
        usage.measure_final()
    _kill_all(child)
    status, peak_bytes, cpu_s = _reap(child)
    monitor.drain()
    head = {"ending": ending, "status": status, "cpu_s": cpu_s}
    head["hit"] = usage.list_reached_limits(peak_bytes)
    if ending == "timeout":
        streams.read_stack_dump(pipes.stack_dump)
    parts = [b"".join(item) for item in streams.pieces(with_errors=bool(file_request))]
    if file_request:
        head["cut"] = streams.list_truncated_streams()
        found = collector.collect_created_files(*file_request)
        parts += [json.dumps(found.to_summary()).encode(), bytes(found.contents)]
    for part in (json.dumps(head).encode(), *parts):
        send_frame(run, part)
    run.close()
    os._exit(0)


def _kill_all(child: int) -> None:
    """Kill all processes that could still write reports.

    The supervisor is pid 1 of its pid namespace; without namespaces there is a single process.
    """
    try:
        os.kill(-1 if os.getpid() == 1 else child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _reap(child: int) -> tuple[int, int, float]:
    """Return exit status, maximum memory of one process of the run in bytes, and CPU seconds."""
    try:
        _, status, used = os.wait4(child, 0)
    except ChildProcessError:
        return -signal.SIGKILL, 0, 0.0
    cpu_s = used.ru_utime + used.ru_stime
    return os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024, cpu_s
