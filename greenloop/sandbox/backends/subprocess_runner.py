"""One process, bounded in time and output, together with its process group."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.records import Ending
from greenloop.sandbox.guest.protocol import stack_dump
from greenloop.sandbox.guest.protocol.output_buffers import OutputBuffers
from greenloop.sandbox.process_result import ProcessResult, ScriptArtifacts

_CHUNK = 65536
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class ProcessBounds:
    """Wall-clock seconds; bytes of output before the process is ended; bytes of it kept."""

    timeout_s: float
    output_bytes: int
    kept_bytes: int = 65536
    result_bytes: int = 8 * 1024 * 1024

    def create_streams(self) -> OutputBuffers:
        return OutputBuffers(
            kept_bytes=self.kept_bytes,
            output_bytes=self.output_bytes,
            result_bytes=self.result_bytes,
        )


def run_process(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    bounds: ProcessBounds,
    stop: threading.Event,
    separate_stderr: bool = False,
) -> ProcessResult:
    """Runs `command`: `{fd}` in it is the side channel's descriptor, `{where}` that for answers.
    Errors are part of the output, or come apart from it in `Ended.left`.

    The whole process group is killed before this returns, whatever the process did. Nothing is
    read after that, so that what a leftover process writes cannot count.

    Raises:
        OSError: the process cannot be started.
    """
    (receive, send), (read_where, where) = os.pipe(), os.pipe()
    started = time.monotonic()
    try:
        process = subprocess.Popen(
            [_fill_placeholders(part, send, where) for part in command],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if separate_stderr else subprocess.STDOUT,
            pass_fds=(send, where),
            start_new_session=True,
        )
    except BaseException:
        _close(receive, read_where)
        raise
    finally:
        _close(send, where)
    streams = bounds.create_streams()
    try:
        ending = _collect_output(process, receive, streams, started + bounds.timeout_s, stop)
        if ending == "timeout":
            stack_dump.request_stack_dump(process.pid, read_where)
    finally:
        _kill_group(process)
        answer = stack_dump.read_stack_dump(read_where)
        _close(receive, read_where)
        for pipe in filter(None, (process.stdout, process.stderr)):
            pipe.close()
    seconds = time.monotonic() - started
    told = (streams.output(), bytes(streams.result), seconds, (), answer)
    return ProcessResult(
        ending,
        process.returncode,
        *told,
        ScriptArtifacts(streams.errors(), tuple(streams.truncated_streams())),
    )


def _fill_placeholders(part: str, channel_fd: int, stack_dump_fd: int) -> str:
    return part.replace("{fd}", str(channel_fd)).replace("{where}", str(stack_dump_fd))


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
            ended = _has_exited(process)
            if not _drain(selector, streams, 0.0 if ended else _POLL_SECONDS):
                return "output"
            if ended:
                return "finished"
            if stop.is_set():
                return "interrupted"
            if time.monotonic() > deadline:
                return "timeout"


def _drain(selector: selectors.BaseSelector, streams: OutputBuffers, wait_s: float) -> bool:
    """Reads all that is there; with `wait_s`, waits so long for something to come."""
    while selector.get_map() and (ready := selector.select(wait_s)):
        for key, _ in ready:
            data = _read(key.fd)
            if data:
                if not streams.append(key.data, data):
                    return False
            elif data is not None:
                selector.unregister(key.fd)
        wait_s = 0.0
    if wait_s and not selector.get_map():
        time.sleep(wait_s)
    return True


def _read(handle: int) -> bytes | None:
    """A chunk, b'' at the end, None where nothing is there yet."""
    try:
        return os.read(handle, _CHUNK)
    except BlockingIOError:
        return None


def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Not `poll`: until its group is killed its number must not become that of another process."""
    how = os.WEXITED | os.WNOHANG | os.WNOWAIT
    try:
        return os.waitid(os.P_PID, process.pid, how) is not None
    except ChildProcessError:  # the host ignores SIGCHLD: the kernel has cleared it away
        return True


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
