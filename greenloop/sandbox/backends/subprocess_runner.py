"""Run of one process and its process group, with limits on time and output."""

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from greenloop.records import Ending
from greenloop.sandbox.guest.protocol import stack_dump
from greenloop.sandbox.guest.protocol.output_buffers import OutputBuffers
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import POLL_SECONDS, ProcessResult, ScriptArtifacts


def run_process(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    limits: ResourceLimits,
    stop: threading.Event,
    separate_stderr: bool = False,
) -> ProcessResult:
    """Run `command` until it ends, reaches a limit, or `stop` is set. Raises OSError.

    In the command, `{fd}` is replaced by the descriptor of the result channel and `{where}` by that
    of the stack dump. Standard error is part of the output, or with `separate_stderr` an artifact.
    The process group is killed at the end; what a remaining process writes later is ignored.
    """
    (receive, send), (read_dump, write_dump) = os.pipe(), os.pipe()
    started = time.monotonic()
    words = (part.replace("{fd}", str(send)) for part in command)
    try:
        process = subprocess.Popen(
            [part.replace("{where}", str(write_dump)) for part in words],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if separate_stderr else subprocess.STDOUT,
            pass_fds=(send, write_dump),
            start_new_session=True,
        )
    except BaseException:
        _close(receive, read_dump)
        raise
    finally:
        _close(send, write_dump)
    streams = OutputBuffers(limits.to_guest())
    try:
        ending = _collect_output(process, receive, streams, started + limits.timeout_s, stop)
        if ending == "timeout":
            stack_dump.request_stack_dump(process.pid, read_dump)
    finally:
        _kill_group(process)
        streams.read_stack_dump(read_dump)
        _close(receive, read_dump)
        for pipe in filter(None, (process.stdout, process.stderr)):
            pipe.close()
    output, reports, dump = (b"".join(item) for item in streams.pieces())
    errors = b"".join(streams.error_pieces())
    left = ScriptArtifacts(errors, tuple(streams.list_truncated_streams()))
    result = (ending, process.returncode, output, reports, time.monotonic() - started)
    return ProcessResult(*result, stack_dump=dump.decode("utf-8", "replace"), artifacts=left)


def _close(*handles: int) -> None:
    for handle in handles:
        os.close(handle)


def _collect_output(
    process: subprocess.Popen[bytes],
    channel_fd: int,
    streams: OutputBuffers,
    deadline: float,
    stop: threading.Event,
) -> Ending:
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        handles = [(process.stdout.fileno(), "output"), (channel_fd, "result")]
        if process.stderr is not None:
            handles.append((process.stderr.fileno(), "errors"))
        for handle, name in handles:
            os.set_blocking(handle, False)
            selector.register(handle, selectors.EVENT_READ, name)
        while True:
            has_exited = _has_exited(process)
            if not _drain(selector, streams, 0.0 if has_exited else POLL_SECONDS):
                return "output"
            if has_exited:
                return "finished"
            if stop.is_set():
                return "interrupted"
            if time.monotonic() > deadline:
                return "timeout"


def _drain(selector: selectors.BaseSelector, streams: OutputBuffers, wait_s: float) -> bool:
    """Read available data, waiting up to `wait_s`; return False if it exceeds a limit."""
    while selector.get_map() and (ready := selector.select(wait_s)):
        for key, _ in ready:
            with contextlib.suppress(BlockingIOError):
                is_within = streams.read(key.fd, key.data)
                if is_within is None:
                    selector.unregister(key.fd)
                elif not is_within:
                    return False
        wait_s = 0.0
    if wait_s and not selector.get_map():
        time.sleep(wait_s)
    return True


def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a process has exited, without reaping it.

    Reaping, as by `poll`, frees the process id, which must not be reused until the group is killed.
    """
    how = os.WEXITED | os.WNOHANG | os.WNOWAIT
    try:
        return os.waitid(os.P_PID, process.pid, how) is not None
    except ChildProcessError:  # the host ignores SIGCHLD, so the kernel has reaped it
        return True


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
