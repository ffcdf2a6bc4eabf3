"""The first thing that runs in the process: takes its job, limits itself, then does the work.

Called as `start.py JOB_FILE FD SCRIPT`. The job file is gone before foreign code is loaded.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
Work = Callable[[dict[str, Any], int], int]


def apply_limits(limits: dict[str, int]) -> None:
    """Memory, CPU seconds, file size, open files; no core dump; death with the parent (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _lower(resource.RLIMIT_CORE, 1)  # not 0: a program that takes the dumps is called for 0 too
    _lower(resource.RLIMIT_AS, limits["memory_bytes"])
    _lower(resource.RLIMIT_CPU, limits["cpu_seconds"])
    _lower(resource.RLIMIT_FSIZE, limits["file_bytes"])
    _lower(resource.RLIMIT_NOFILE, limits["open_files"])


def _lower(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    try:
        resource.setrlimit(kind, (value, value))
    except (ValueError, OSError):  # macOS refuses RLIMIT_AS; the host's time limit still holds
        return


def _work_of(script: str) -> Work:
    """The script's `main`; it and its neighbours have no name that foreign code could come across."""
    folder, name = os.path.split(os.path.abspath(script))
    package = os.path.basename(folder)
    sys.path.insert(0, os.path.dirname(folder))
    work: Work = importlib.import_module(f"{package}.{name.removesuffix('.py')}").main
    sys.path.pop(0)
    for known in [item for item in sys.modules if f"{item}.".startswith(f"{package}.")]:
        del sys.modules[known]
    return work


def start(job_file: str, handle: int, script: str) -> int:
    job = json.loads(Path(job_file).read_text("utf-8"))
    os.unlink(job_file)
    os.set_inheritable(handle, False)
    work = _work_of(script)
    own_folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [item for item in sys.path if item != own_folder]
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
        status = start(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)
