"""Who sees what: the code's process is made before the tests have come, and apart from them.

The code's side gets a pid namespace and a mount namespace of its own: it sees neither the process of
the tests nor the supervisor, can send them no signal, and finds no trace of them in /proc. It is
cloned before the supervisor has received the tests, so that their text is nowhere in its memory. The
supervisor then covers the working folder with a private one, where the tests are written: below it,
in the code's view, lies the module. Shared are the rest of /tmp, /dev/shm and the network's loopback.
"""

from __future__ import annotations

import fcntl
import os
import signal
from typing import Any

from ..isolation import syscalls as k
from ..isolation.run_mounts import WORK_FOLDER
from ..zygote import child as foreign

_TMPFS = k.MS_NOSUID | k.MS_NODEV
_HIGH = 64
_DESCRIPTORS = 4096
_TESTS_BYTES = "size=32m,nr_inodes=1024,mode=0700"


def start_code(
    job: dict[str, Any], limits: dict[str, int], kept: frozenset[int], wire: list[int]
) -> None:
    """Starts the code's side; adds our ends of the pipes to `wire`: to hear, to say, how it ended.

    To be called while the supervisor may still make namespaces and mounts. `kept` stays open.
    """
    for path, text in job["files"].items():
        with open(path, "xb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
    heard, said, ended = os.pipe(), os.pipe(), os.pipe()
    if k.clone(k.CLONE_NEWPID | k.CLONE_NEWNS) == 0:
        _keep_only(said[0], heard[1], ended[1], kept)
        _first(job, limits)
    for handle in (heard[1], said[0], ended[1]):
        os.close(handle)
    k.mount("tmpfs", WORK_FOLDER, "tmpfs", _TMPFS, _TESTS_BYTES)
    os.chdir("/")
    wire += [heard[0], said[1], ended[0]]


def _keep_only(said: int, heard: int, ended: int, kept: frozenset[int]) -> None:
    """The three become 3, 4, 5; what is written past Python's streams goes nowhere."""
    high = [fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, _HIGH) for handle in (said, heard, ended)]
    for place, handle in enumerate(high, 3):
        os.dup2(handle, place, inheritable=False)
    start = 3 + len(high)
    for number in (*sorted(kept), _DESCRIPTORS):
        os.closerange(start, number)
        start = number + 1
    nothing = os.open("/dev/null", os.O_RDWR)
    for place in (0, 1, 2):
        os.dup2(nothing, place)
    os.close(nothing)


def _first(job: dict[str, Any], limits: dict[str, int]) -> None:
    """Pid 1 over there: nothing but its own /proc, the folder that cannot be taken away, a child."""
    status = 125
    try:
        k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)
        k.mount("proc", "/proc", "proc", _TMPFS | k.MS_NOEXEC)
        k.mount(
            WORK_FOLDER, WORK_FOLDER, None, k.MS_BIND
        )  # nobody can remove or rename what is mounted upon
        k.drop_capabilities()
        k.prctl(k.PR_SET_DUMPABLE, 0)
        child = os.fork()
        if child == 0:
            _second(job, limits)
        for handle in (3, 4):
            os.close(handle)
        status = _reap(child)
        os.write(5, str(status).encode())
    finally:
        os._exit(0)


def _second(job: dict[str, Any], limits: dict[str, int]) -> None:
    """The foreign side from here on. Never returns."""
    try:
        os.close(5)
        k.prctl(k.PR_SET_DUMPABLE, 1)
        with open("/proc/self/oom_score_adj", "w", encoding="utf-8") as file:
            file.write("1000")
        os.setsid()
        foreign.drop_privileges(limits, True)
        code = {**job, "kind": "code"}
        foreign.enter_run(code, limits, True)
        foreign.exit_with(lambda: foreign.run_cold(code, 3))
    finally:
        os._exit(125)


def _reap(child: int) -> int:
    """Waits for the child, clearing away orphans meanwhile: its exit status, negative for a signal."""
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status)
