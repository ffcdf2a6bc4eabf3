"""Packages loaded before a run is known, so that each run finds them loaded."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Sequence

# Libraries of numbers start a thread for each core as soon as they are loaded. A copy of a process
# has none of its threads, and a run may have only so many.
SINGLE_THREAD_VARIABLES = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR")
}
_TRIAL_IMPORTS_SECONDS, _POLL_SECONDS = (
    20.0,
    0.005,
)  # all together: the host waits for the zygote for a minute


def preload_packages(modules: Sequence[str]) -> None:
    """Loads those whose loading starts no thread and ends well: a child tries each out before.

    What is not loaded here is loaded by the run that imports it.
    """
    os.environ.update(SINGLE_THREAD_VARIABLES, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    until = time.monotonic() + _TRIAL_IMPORTS_SECONDS
    for name in modules:
        if _can_import_safely(name, until):
            with contextlib.suppress(Exception):
                __import__(name)


def unload_shadowed_packages(work: str, folder: str) -> None:
    """Takes back what was loaded under the name of a file of the run's own: its file is meant.

    `folder` is where packages lie, '' where there are none.
    """
    if not folder:
        return
    own = {name.partition(".")[0] for name in os.listdir(work)}
    for name in [item for item in sys.modules if item.partition(".")[0] in own]:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(f"{folder}/"):
            del sys.modules[name]


def _can_import_safely(name: str, deadline: float) -> bool:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _silence_output()
            __import__(name)
            status = 0 if len(os.listdir("/proc/self/task")) == 1 else 2
        finally:
            os._exit(status)
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False
        time.sleep(_POLL_SECONDS)


def _silence_output() -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
