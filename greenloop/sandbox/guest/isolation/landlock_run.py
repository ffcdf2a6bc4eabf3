"""A run's room where there are no namespaces: a folder of the host's, a user, and its confinement."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
from typing import Any

from . import syscalls as k
from .landlock import restrict, version
from .seccomp import install_filter, install_program
from .seccomp_strict import build_strict_filter

_RUN_FOLDERS = ("work", "home", "tmp")
_FIRST_RUN_UID = 0x70000000  # user numbers from here on belong to nobody; the run's pid is added
_WRITABLE_DEVICES = ("/dev/null",)


def set_up_run_folders(job: dict[str, Any], pipes: tuple[int, ...]) -> None:
    """In the supervisor, when the job has come: the folders, and who it is from now on.

    With `own_user` this is root, and the run becomes a user whom there is only once: `user`. The
    pipes become its own too, as a name in /dev leads to them.

    Raises:
        OSError: a folder cannot be made, or the user not be changed.
    """
    root = job["root"]
    for name in _RUN_FOLDERS:
        shutil.rmtree(f"{root}/{name}", ignore_errors=True)  # of a zygote that died over this run
        os.mkdir(f"{root}/{name}", 0o700)
    job["user"] = _FIRST_RUN_UID + os.getpid() if job["own_user"] else None
    if job["user"] is not None:
        for place in (root, *(f"{root}/{name}" for name in _RUN_FOLDERS), *pipes):
            os.chown(place, job["user"], job["user"])
    _switch_user(job["user"])


def _switch_user(user: int | None) -> None:
    """A user of this number, if one is given, without capabilities, who ends with his parent."""
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    k.drop_capabilities()
    k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)  # changing the user cleared it


def confine(job: dict[str, Any]) -> None:
    """In the run's process, just before foreign code: nothing of this can be undone."""
    _switch_user(job["user"])
    k.prctl(k.PR_SET_DUMPABLE, 1)  # its supervisor may look at it
    if job["own_user"]:
        most = job["limits"]["processes"]
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    level = version()
    restrict(job["readable"], [job["root"], *_WRITABLE_DEVICES])
    program = build_strict_filter(
        k.machine(), os.getpid(), has_own_user=job["own_user"], landlock_version=level
    )
    install_program(program)
    install_filter(families=())


def remove_run_folders(root: str) -> None:
    """When the host is gone without a word: waits for the runs, and takes their folders away."""
    with contextlib.suppress(ChildProcessError):
        os.wait()
    with contextlib.suppress(RecursionError):
        shutil.rmtree(root, ignore_errors=True)
