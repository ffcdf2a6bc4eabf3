"""The first thing that runs in the process: takes its job, limits itself, then does the work.

Called as `bootstrap.py JOB_FILE RESULT_FD WHERE_FD`. The job file is gone before foreign code is loaded.
"""

from __future__ import annotations

import ctypes
import faulthandler
import importlib.util
import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_CPU_MARGIN_SECONDS = 2
_GUEST_PACKAGE = "_guest"
EntryPoint = Callable[[dict[str, Any], int], int]


def apply_limits(limits: dict[str, int]) -> None:
    """Memory, CPU seconds, file size, open files; no core dump; death with the parent (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _set_rlimit(
        resource.RLIMIT_CORE, 1
    )  # not 0: a program that takes the dumps is called for 0 too
    _set_rlimit(resource.RLIMIT_AS, limits["memory_bytes"])
    _set_rlimit(resource.RLIMIT_CPU, limits["cpu_seconds"], _CPU_MARGIN_SECONDS)
    _set_rlimit(resource.RLIMIT_FSIZE, limits["file_bytes"])
    _set_rlimit(resource.RLIMIT_NOFILE, limits["open_files"])


def _set_rlimit(kind: int, value: int, margin: int = 0) -> None:
    """Soft and, `margin` above it, hard: of the CPU's the first tells why, the second kills."""
    _, hard = resource.getrlimit(kind)
    most = value + margin
    if hard != resource.RLIM_INFINITY:
        value, most = min(value, hard), min(most, hard)
    try:
        resource.setrlimit(kind, (value, most))
    except (ValueError, OSError):  # macOS refuses RLIMIT_AS; the host's time limit still holds
        return


def _load_entrypoint(kind: str) -> EntryPoint:
    """The `main` of a kind of job, and no name left that foreign code could come across."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [item for item in sys.path if item != folder]
    first = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location(
        _GUEST_PACKAGE, first, submodule_search_locations=[folder]
    )
    if spec is None:
        raise ImportError(first)
    sys.modules[_GUEST_PACKAGE] = importlib.util.module_from_spec(spec)
    work: EntryPoint = importlib.import_module(f"{_GUEST_PACKAGE}.entrypoints").load_entrypoint(
        kind
    )
    for name in [item for item in sys.modules if f"{item}.".startswith(f"{_GUEST_PACKAGE}.")]:
        del sys.modules[name]
    return work


def run_job(job_file: str, handle: int, stack_dump: int) -> int:
    job = json.loads(Path(job_file).read_text("utf-8"))
    os.unlink(job_file)
    for descriptor in (handle, stack_dump):
        os.set_inheritable(descriptor, False)
    os.set_blocking(stack_dump, False)
    faulthandler.register(signal.SIGURG, file=stack_dump, all_threads=False)  # see whereabouts.py
    work = _load_entrypoint(job["kind"])
    apply_limits(job["limits"])
    os.chdir(job["work"])
    status = work(job, handle)
    sys.stdout.flush()
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    # Not sys.exit, nor an error's way out: a thread left behind must not hold up the end.
    status = 125
    try:
        status = run_job(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)
