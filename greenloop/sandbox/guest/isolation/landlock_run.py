"""Set-up of a run without namespaces: folders, user id, confinement by Landlock."""

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
_FIRST_RUN_UID = 0x70000000  # ids from here on are unused; the run's pid is added
_WRITABLE_DEVICES = ("/dev/null",)


def set_up_run_folders(job: dict[str, Any], pipes: tuple[int, ...]) -> None:
    """In the supervisor: create the run's folders and switch to the run's user.

    With `own_user` this process is root, and the run gets an unused user id, which then owns the
    folders and the pipes (which can be opened through /dev).
    Raises OSError if a folder cannot be created or the user cannot be changed.
    """
    root = job["root"]
    for name in _RUN_FOLDERS:
        shutil.rmtree(f"{root}/{name}", ignore_errors=True)  # left by a zygote that died
        os.mkdir(f"{root}/{name}", 0o700)
    if job["own_user"]:
        user = _FIRST_RUN_UID + os.getpid()
        for item in (root, *(f"{root}/{name}" for name in _RUN_FOLDERS), *pipes):
            os.chown(item, user, user)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    k.drop_capabilities()
    k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)  # changing the user cleared it


def confine(job: dict[str, Any]) -> None:
    """In the run's process, before untrusted code: apply restrictions that cannot be undone."""
    k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)  # a fork does not inherit it
    if job["own_user"]:
        count = job["limits"]["processes"]
        resource.setrlimit(resource.RLIMIT_NPROC, (count, count))
    level = version()
    restrict(job["readable"], [job["root"], *_WRITABLE_DEVICES])
    program = build_strict_filter(
        k.machine(), os.getpid(), has_own_user=job["own_user"], landlock_version=level
    )
    install_program(program)
    install_filter(families=())


def remove_run_folders(root: str) -> None:
    """After the host has disappeared: wait for the runs and remove their folders."""
    with contextlib.suppress(ChildProcessError):
        os.wait()
    with contextlib.suppress(RecursionError):
        shutil.rmtree(root, ignore_errors=True)
