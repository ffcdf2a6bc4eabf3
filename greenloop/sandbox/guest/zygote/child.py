"""Last steps of the guest in a run's process: limits, system-call filter, entry point."""

import faulthandler
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from ..entrypoints import EntryPoint
from ..isolation import landlock_run, seccomp
from ..isolation import syscalls as k
from ..limits.rlimits import set_rlimits
from ..pytest_plugin.config import ini_file
from .file_descriptors import RESULT_FD, STACK_DUMP_FD

_GUEST = __name__.rsplit(".", 2)[0]
_NAMESPACE_FAMILIES = (seccomp.AF_INET, seccomp.AF_INET6)


def socket_families(has_namespaces: bool) -> tuple[int, ...]:
    """Return the allowed socket families: in a network namespace no connection leaves the run."""
    return _NAMESPACE_FAMILIES if has_namespaces else ()


def unload_guest_modules() -> None:
    """Make the guest's modules impossible to find or import by name.

    Called once, in the zygote, because the loop over all modules writes to memory pages that every
    later fork would have to copy.
    """
    home = os.path.dirname(_guest_folder())
    sys.path[:] = [item for item in sys.path if item != home]
    for name in [item for item in sys.modules if f"{item}.".startswith(f"{_GUEST}.")]:
        del sys.modules[name]


def detach_process() -> None:
    """Make this process dumpable, and the leader of a session."""
    k.prctl(k.PR_SET_DUMPABLE, 1)
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as an interpreter sets it


def enter_run(job: dict[str, Any], limits: dict[str, int], has_namespaces: bool) -> None:
    """Apply all limits and filters, up to the first line of untrusted code."""
    faulthandler.enable(sys.__stderr__ or 2)
    set_rlimits(limits, limit_kernel_objects=True, limit_processes=has_namespaces)
    if has_namespaces:
        seccomp.install_filter(socket_families(has_namespaces))
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["work"])
    sys.path += filter(None, [job["packages"]])
    job["limits"] = limits
    if not has_namespaces:
        landlock_run.confine(job)


def run_job(job: dict[str, Any], entrypoints: Mapping[str, EntryPoint]) -> int:
    """Run a job and return the exit status."""
    job["ini"] = ini_file()
    if job["cold"]:
        return _exec_new_interpreter(job)
    main = entrypoints.get(job["kind"])
    return main(job, RESULT_FD) if main else 1


def exit_with(function: Callable[[], int]) -> NoReturn:
    """Exit with the status that the function returns; 125 if it raises."""
    try:
        status = function()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    except BaseException as error:
        exit_with_error(error)


def exit_with_error(error: BaseException, status: int = 125) -> NoReturn:
    """Print an error in one line and exit."""
    os.write(2, f"{type(error).__name__}: {error}\n".encode("utf-8", "replace")[:2000])
    os._exit(status)


def _exec_new_interpreter(job: dict[str, Any]) -> int:
    """Run the job in a new interpreter, with its own hash seed and nothing preloaded.

    The interpreter is this one without packages, or that of a project's environment: limits, mounts
    and filter are in place before the first code of the environment runs.
    """
    for descriptor in (RESULT_FD, STACK_DUMP_FD):
        os.set_inheritable(descriptor, True)
    path = f"{job['environment']['TMPDIR']}/job.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(job, file)
    python, flags = job.get("python", ""), ["-B"]
    if not python:
        python, flags = sys.executable, ["-s", "-S", "-B"]
    command = [python, *flags, f"{_guest_folder()}/bootstrap.py", path]
    os.execve(python, [*command, str(RESULT_FD), str(STACK_DUMP_FD)], dict(os.environ))


def _guest_folder() -> str:
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
