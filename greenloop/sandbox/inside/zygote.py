"""The process that is copied for each run: pytest is loaded, nothing of any run is in it.

On the control socket come run sockets, one message each; the zygote itself never reads what is on
them.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
from typing import Any

from . import answer_calls, seccomp
from . import kernel as k
from .corner import WORK
from .frames import send_frame
from .landlock import restrict
from .supervisor import supervise
from .warm_pytest import ReadyPytest, preload

_OWN = __name__.rpartition(".")[0]
_CPU_MARGIN_S = 2


def main(control_fd: int, spaces: bool) -> None:
    """Serves until the host goes away. `spaces`: each run gets namespaces of its own."""
    control = socket.socket(fileno=control_fd)
    control.set_inheritable(False)
    sys.dont_write_bytecode = True
    preload()
    ready = made_ready() if spaces else None
    signal.signal(
        signal.SIGCHLD, signal.SIG_IGN
    )  # ended supervisors are cleared away by themselves
    gc.collect()
    gc.freeze()
    control.send(b"ready")
    while True:
        select.select([control], [], [])
        message, handles, _, _ = socket.recv_fds(control, 64, 1)
        if not message:
            return
        _start(control, handles[0], spaces, ready)


def made_ready() -> ReadyPytest | None:
    """None where this pytest cannot be made ready: then each run starts it from the beginning."""
    os.chdir(WORK)
    out = os.dup(1)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        return ReadyPytest(WORK, ini_file())
    except Exception:
        return None
    finally:
        sys.stdout.flush()
        os.dup2(out, 1)
        os.close(out)
        os.close(nothing)


def ini_file() -> str:
    """pytest's configuration for runs: nothing of what lies around is picked up."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "pytest.ini")


def _start(control: socket.socket, handle: int, spaces: bool, ready: ReadyPytest | None) -> None:
    ids = (os.getuid(), os.getgid())
    try:
        child = k.clone(k.ALL_NAMESPACES if spaces else 0)
    except OSError as error:  # for want of memory or namespaces: the next may go well again
        _say(socket.socket(fileno=handle), error)
        return
    if child:
        os.close(handle)
        return
    run = socket.socket(fileno=handle)
    try:
        control.close()
        supervise(run, ids, spaces, lambda job, out, inner: foreign(job, out, inner, ready))
    except BaseException as error:
        _say(run, error)
    os._exit(111)


def _say(run: socket.socket, error: BaseException) -> None:
    """Tells the host why this run could not be begun."""
    text = f"{type(error).__name__}: {error}"[:1000]
    with run, contextlib.suppress(OSError):
        send_frame(run, json.dumps({"trouble": text}).encode())


def foreign(job: dict[str, Any], handle: int, spaces: bool, ready: ReadyPytest | None) -> int:
    """Everything up to the first line of foreign code, and that code."""
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["work"])
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [item for item in sys.path if item != home]
    for name in [item for item in sys.modules if item == _OWN or item.startswith(f"{_OWN}.")]:
        del sys.modules[name]
    limit(job["limits"])
    if spaces:
        seccomp.install_filter()
    else:
        restrict(job["readable"], [job["root"], "/dev/null"])
        seccomp.install_filter(families=())
    status = _work(job, handle, ready)
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def _work(job: dict[str, Any], handle: int, ready: ReadyPytest | None) -> int:
    job["ini"] = ini_file()
    if job["cold"]:
        return _cold(job, handle)
    if job["kind"] == "calls":  # pytest, made ready, holds the streams; here there is no pytest
        sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
        return answer_calls.main(job, handle)
    if ready is None:
        from .run_pytest import main as run_pytest

        return run_pytest(job, handle)
    return ready.run(job, handle)


def _cold(job: dict[str, Any], handle: int) -> int:
    """The same in a Python started anew: nothing is loaded beforehand, and the hash seed is its own."""
    os.set_inheritable(handle, True)
    path = f"{job['environment']['TMPDIR']}/job.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(job, file)
    folder = os.path.dirname(os.path.abspath(__file__))
    script = {"tests": "run_pytest.py", "calls": "answer_calls.py"}[job["kind"]]
    command = [sys.executable, "-s", "-S", "-B", f"{folder}/start.py", path, str(handle)]
    os.execve(sys.executable, [*command, f"{folder}/{script}"], dict(os.environ))


def limit(limits: dict[str, int]) -> None:
    """What the kernel holds each process to."""
    seconds = limits["cpu_seconds"]
    for kind, value in (
        (resource.RLIMIT_CORE, 1),  # not 0: a program that takes the dumps is called for 0 too
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_SIGPENDING, 256),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_FSIZE, limits["file_bytes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_AS, limits["memory_bytes"]),
    ):
        resource.setrlimit(kind, (value, value))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + _CPU_MARGIN_S))
