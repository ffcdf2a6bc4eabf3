"""The last of ours in a run's process: limits and filter go up, then foreign code is let in."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from ..entrypoints import BARE_KINDS, load_all_entrypoints
from ..isolation import landlock_run, seccomp
from ..pytest_plugin.config import ini_file
from .file_descriptors import STACK_DUMP_FD
from .package_preload import unload_shadowed_packages

_GUEST = __name__.rsplit(".", 2)[0]
_CPU_MARGIN_SECONDS = 2
_ENTRYPOINTS = load_all_entrypoints()
_NAMESPACE_FAMILIES = (seccomp.AF_UNIX, seccomp.AF_INET, seccomp.AF_INET6)


def socket_families(has_namespaces: bool) -> tuple[int, ...]:
    """Socket families that a run may use: any connection that it can make stays in its namespace."""
    return _NAMESPACE_FAMILIES if has_namespaces else ()


def unload_guest_modules() -> None:
    """Foreign code finds none of our modules by name, and can import none.

    To be done once, in the process that is copied: looking through all modules writes to each of
    their names' pages, which every copy would pay for.
    """
    if _GUEST not in sys.modules:
        return
    home = os.path.dirname(_folder())
    sys.path[:] = [item for item in sys.path if item != home]
    for name in [item for item in sys.modules if item == _GUEST or item.startswith(f"{_GUEST}.")]:
        del sys.modules[name]


def drop_privileges(limits: dict[str, int], has_namespaces: bool) -> None:
    """What can go up before the job is known."""
    unload_guest_modules()
    faulthandler.enable(sys.__stderr__ or 2)
    set_rlimits(limits, limit_processes=has_namespaces)
    if has_namespaces:
        seccomp.install_filter(socket_families(has_namespaces))


def enter_run(job: dict[str, Any], limits: dict[str, int], has_namespaces: bool) -> None:
    """Everything else up to the first line of foreign code."""
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["work"])
    unload_shadowed_packages(job["work"], job["packages"])
    job["limits"] = limits
    if not has_namespaces:
        landlock_run.confine(job)


def uses_preloaded_session(job: dict[str, Any]) -> bool:
    """Whether it is a test run that may use what was loaded beforehand."""
    return job["kind"] in ("tests", "split") and not job["cold"]


def run_cold(job: dict[str, Any], handle: int) -> int:
    """Work that no held session can do; its exit status."""
    job["ini"] = ini_file()
    if job["cold"]:
        return _exec_new_interpreter(job, handle)
    if job["kind"] in BARE_KINDS:  # pytest, made ready, holds the streams; here is none
        sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__
    main = _ENTRYPOINTS.get(job["kind"])
    return main(job, handle) if main else 1  # "compile", "split": no session is held that could


def exit_with(function: Callable[[], int]) -> NoReturn:
    """Does the work and ends this process with its status; 125 where it raises."""
    try:
        status = function()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    except BaseException as error:
        exit_with_error(error)


def exit_with_error(error: BaseException, status: int = 125) -> NoReturn:
    """Ends this process, saying why."""
    os.write(2, f"{type(error).__name__}: {error}\n".encode("utf-8", "replace")[:2000])
    os._exit(status)


def _exec_new_interpreter(job: dict[str, Any], handle: int) -> int:
    """The same in a Python started anew: nothing is loaded beforehand, and the hash seed is its own."""
    for descriptor in (handle, STACK_DUMP_FD):
        os.set_inheritable(descriptor, True)
    path = f"{job['environment']['TMPDIR']}/job.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(job, file)
    command = [sys.executable, "-s", "-S", "-B", f"{_folder()}/bootstrap.py", path]
    os.execve(sys.executable, [*command, str(handle), str(STACK_DUMP_FD)], dict(os.environ))


def _folder() -> str:
    """The folder of the guest package."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def set_rlimits(limits: dict[str, int], *, limit_processes: bool) -> None:
    """What the kernel holds each process to. `alone`: the user has no processes but this run's."""
    seconds = limits["cpu_seconds"]
    for kind, value in (
        (resource.RLIMIT_CORE, 1),  # not 0: a program that takes the dumps is called for 0 too
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_SIGPENDING, 256),
        (resource.RLIMIT_FSIZE, limits["file_bytes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_AS, limits["memory_bytes"]),
    ):
        resource.setrlimit(kind, (value, value))
    if limit_processes:
        resource.setrlimit(resource.RLIMIT_NPROC, (limits["processes"], limits["processes"]))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + _CPU_MARGIN_SECONDS))
