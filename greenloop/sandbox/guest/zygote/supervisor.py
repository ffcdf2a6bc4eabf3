"""Pid 1 of one run: builds its private corner, starts the foreign code as pid 2, watches it, reports.

When it exits, the kernel ends everything that is left in its pid namespace. It is not dumpable, so
foreign code can neither read nor trace it, and it ends everybody else before it reads the result.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
from functools import partial
from typing import Any, NamedTuple

from ..files import collector
from ..files.writer import lay_out
from ..isolation import landlock_run, run_mounts
from ..isolation import syscalls as k
from ..isolation.proxy_socket import hand_out_listener
from ..limits.namespace_usage import Usage
from ..limits.process_usage import Footprint
from ..protocol import stack_dump
from ..protocol.framing import receive_frame, send_frame
from ..protocol.output_buffers import Streams
from ..remote_module import SPLIT, clones
from . import child as foreign
from .file_descriptors import RESULT, apart, own_errors, own_streams
from .monitor import Watch

_JOB_BYTES = 64 << 20
SPARE, RUNNING = "gl-spare", "gl-run"
_KILLED_FIRST = "1000"  # by the kernel, where the whole machine runs out of memory


class Run(NamedTuple):
    """What a run's process is to do, and the descriptor for its results."""

    job: dict[str, Any]
    handle: int


def supervise(
    source: socket.socket,
    limits: dict[str, int],
    ids: tuple[int, int],
    spaces: bool,
    kept: frozenset[int],
) -> Run:
    """One run, from its place being built to its report, which is the end of this process.

    Its socket comes over `source`, and on that the job. Returns in the child only, which foreign
    code is let into.
    """
    k.name_process(SPARE)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)
    run: socket.socket | None = None
    known: dict[str, Any] = {}
    try:
        if SPLIT in limits:  # the code comes first, then it gets its process, then come the tests
            run = _run_socket(source)
            k.name_process(RUNNING)
            known = json.loads(receive_frame(run, _JOB_BYTES))
        pipes = _Pipes()
        if spaces:
            start = partial(clones.start_code, known, limits, kept, pipes.wire)
            run_mounts.build(limits, ids, start if run else None)
        k.prctl(k.PR_SET_DUMPABLE, 0)
        child = os.fork()
    except BaseException as error:
        say(run or _run_socket(source), error)
        os._exit(111)
    if child == 0:
        return _become_the_run(pipes, limits, spaces, kept)
    run = run or _run_socket(source)
    try:
        k.name_process(RUNNING)
        pipes.keep_ours()
        root, wanted = _begin(run, pipes, spaces, known)
    except BaseException as error:
        say(run, error)
        os._exit(111)
    usage = Usage(limits) if spaces else Footprint(limits, child, root)
    try:
        _report(run, child, Streams.within(limits), pipes, limits, usage, wanted)
    finally:  # an error here is no report, and must not read like a run that never began
        os._exit(112)


class _Pipes:
    """From a run: its output, its errors where they come apart, its results, where it is. To it:
    its job. `wire`: to its code's process, if that is another one.
    """

    def __init__(self) -> None:
        self.wire: list[int] = []
        self.output, self.output_in = os.pipe()
        self.errors, self.errors_in = os.pipe()
        self.result, self.result_in = os.pipe()
        self.where, self.where_in = os.pipe()
        self.job, self.job_in = os.pipe()

    def keep_ours(self) -> None:
        theirs = (self.output_in, self.errors_in, self.result_in, self.where_in, self.job)
        for handle in (*theirs, *self.wire):
            os.close(handle)


def _run_socket(source: socket.socket) -> socket.socket:
    """Waits for it; the end of this process where none will come.

    `source` stays open: the zygote sees by it when this process has come to its end.
    """
    message, handles, _, _ = socket.recv_fds(source, 64, 1)
    if not message:
        os._exit(0)
    return socket.socket(fileno=handles[0])


class _Wanted(NamedTuple):
    """A run's working folder, and what is to be told of what it makes there; see `made`."""

    work: str
    what: dict[str, Any]


def _begin(
    run: socket.socket, pipes: _Pipes, spaces: bool, known: dict[str, Any]
) -> tuple[str, _Wanted | None]:
    """Hands the job on, with what was `known` of it before; the folder that the run lives in,
    where it has no namespaces, and what is wanted of it besides its reports.
    """
    job = {**known, **json.loads(receive_frame(run, _JOB_BYTES))}
    if not spaces:
        landlock_run.build(job, (pipes.output, pipes.errors, pipes.result))
    lay_out(job)
    if job["network"]:
        job["environment"].update(hand_out_listener(run))
    what = job.pop("wanted")
    with contextlib.suppress(BrokenPipeError), open(pipes.job_in, "wb") as there:
        there.write(json.dumps(job).encode())
    return str(job.get("root", "")), _Wanted(job["work"], what) if what else None


def say(run: socket.socket, error: BaseException) -> None:
    """Tells the host why this run could not be begun."""
    text = f"{type(error).__name__}: {error}"[:1000]
    with run, contextlib.suppress(OSError):
        send_frame(run, json.dumps({"trouble": text}).encode())


def _become_the_run(
    pipes: _Pipes, limits: dict[str, int], spaces: bool, kept: frozenset[int]
) -> Run:
    """In the child: the foreign side from here on. What can be done before the job is known, is."""
    try:
        stand_alone()
        job, errors, *wire = map(apart, (pipes.job, pipes.errors_in, *pipes.wire))
        own_streams(pipes.output_in, pipes.result_in, pipes.where_in, kept | {job, errors, *wire})
        foreign.close_up(limits, spaces)
        content = {**_read_job(job), "wire": wire}
        own_errors(errors, wanted=content["kind"] == "script")
        k.name_process(RUNNING)
        foreign.enter(content, limits, spaces)
        return Run(content, RESULT)
    except BaseException as error:
        foreign.end_with(error)


def stand_alone() -> None:
    """A process of its own: it can be looked at, and is the first that the kernel would end."""
    k.prctl(k.PR_SET_DUMPABLE, 1)
    k.write("/proc/self/oom_score_adj", _KILLED_FIRST)
    os.setsid()


def _read_job(handle: int) -> dict[str, Any]:
    with open(handle, "rb") as there:
        content: dict[str, Any] = json.loads(there.read())
    return content


def _report(
    run: socket.socket,
    child: int,
    streams: Streams,
    pipes: _Pipes,
    limits: dict[str, int],
    usage: Usage | Footprint,
    wanted: _Wanted | None,
) -> None:
    handles = (pipes.output, pipes.errors, pipes.result, pipes.where)
    watch = Watch(run, child, streams, handles)
    ending = watch.until_the_end(limits["wall_ms"] / 1000, usage)
    if not watch.ended_well():
        usage.look_last()
    _end_everybody(child)
    status, peak_bytes = _reap(child)
    watch.drain()
    head = {"ending": ending, "status": status, "hit": usage.hit(peak_bytes)}
    if ending == "timeout":
        head["where"] = stack_dump.answered(pipes.where)
    parts = [streams.output(), bytes(streams.result)]
    if wanted:
        head["cut"] = streams.cut()
        found = collector.collect(*wanted)
        parts += [streams.errors(), json.dumps(found.account()).encode(), bytes(found.contents)]
    for part in (json.dumps(head).encode(), *parts):
        send_frame(run, part)
    run.close()
    os._exit(0)


def _end_everybody(child: int) -> None:
    """Before the result is read: nobody is left who could still write to it.

    In its pid namespace a supervisor is pid 1, and ends all others; elsewhere there is but the one.
    """
    try:
        os.kill(-1 if os.getpid() == 1 else child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _reap(child: int) -> tuple[int, int]:
    """The exit status, and the most bytes of memory that one of its processes had."""
    try:
        _, status, used = os.wait4(child, 0)
    except ChildProcessError:
        return -signal.SIGKILL, 0
    return os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024
