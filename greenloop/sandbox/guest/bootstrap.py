"""Start of a process for one job: limits the process, then calls the job's entry point.

Usage: `bootstrap.py JOB_FILE RESULT_FD STACK_DUMP_FD`. The job file is deleted before untrusted
code is loaded.
"""

import ctypes
import faulthandler
import importlib.util
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_GUEST_PACKAGE = "_guest"
EntryPoint = Callable[[dict[str, Any], int], int]


def run_job(job_file: str, result_fd: int, stack_dump_fd: int) -> int:
    """Run the job of a file and return the exit status of the process."""
    job = json.loads(Path(job_file).read_text("utf-8"))
    os.unlink(job_file)
    for descriptor in (result_fd, stack_dump_fd):
        os.set_inheritable(descriptor, False)
    # As in protocol/stack_dump.py, which is not loaded yet.
    os.set_blocking(stack_dump_fd, False)
    faulthandler.register(signal.SIGURG, file=stack_dump_fd, all_threads=False)
    main = _load_entrypoint(job["kind"], job["limits"])
    os.chdir(job["work"])
    status = main(job, result_fd)
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def _load_entrypoint(kind: str, limits: dict[str, int]) -> EntryPoint:
    """Load a job's entry point, limit this process, and remove the guest from `sys.modules`."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [item for item in sys.path if item != folder]
    init_file = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location(
        _GUEST_PACKAGE, init_file, submodule_search_locations=[folder]
    )
    if spec is None:
        raise ImportError(init_file)
    sys.modules[_GUEST_PACKAGE] = importlib.util.module_from_spec(spec)
    entrypoints = importlib.import_module(f"{_GUEST_PACKAGE}.entrypoints")
    main: EntryPoint = entrypoints.load_entrypoint(kind)
    rlimits = importlib.import_module(f"{_GUEST_PACKAGE}.limits.rlimits")
    if sys.platform == "linux":
        shared_memory = importlib.import_module(f"{_GUEST_PACKAGE}.isolation.shared_memory")
        shared_memory.limit_shared_mappings()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    rlimits.set_rlimits(limits)
    for name in [item for item in sys.modules if f"{item}.".startswith(f"{_GUEST_PACKAGE}.")]:
        del sys.modules[name]
    return main


if __name__ == "__main__":
    # os._exit, so that threads of untrusted code cannot delay the end of the process.
    status = 125
    try:
        status = run_job(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)
