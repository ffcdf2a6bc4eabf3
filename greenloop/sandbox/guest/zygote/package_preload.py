"""Packages that the zygote imports, so that runs find them loaded."""

import contextlib
import gc
import os
import signal
import sys
import time
from collections.abc import Sequence

from ..isolation import syscalls as k
from ..isolation.seccomp import build_filter
from ..isolation.shared_memory import limit_shared_mappings
from ..limits.rlimits import SINGLE_THREAD_VARIABLES

# All trial imports together: the host waits a minute for the zygote.
_TRIAL_IMPORTS_SECONDS, _POLL_SECONDS = 20.0, 0.005


def preload_packages(modules: Sequence[str]) -> None:
    """Import modules whose import succeeds and starts no thread; a child tries each first.

    Runs import the others themselves.
    """
    os.environ.update(SINGLE_THREAD_VARIABLES, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    deadline = time.monotonic() + _TRIAL_IMPORTS_SECONDS
    for name in modules:
        if _can_import_safely(name, deadline):
            with contextlib.suppress(Exception):
                __import__(name)


def unload_shadowed_packages(work: str, folder: str) -> None:
    """Unload preloaded packages that share a name with a file of the run.

    `folder` is where packages are installed, '' if there are none.
    """
    if not folder:
        return
    local_names = {name.partition(".")[0] for name in os.listdir(work)}
    for name in [item for item in sys.modules if item.partition(".")[0] in local_names]:
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
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)


def preload(packages: Sequence[str], families: tuple[int, ...]) -> None:
    """Load what runs need, and build what they use, before the first fork.

    The modules of `packages` are loaded if that is safe. `families` are the socket families that the
    system-call filter allows.
    """
    sys.dont_write_bytecode = True
    gc.disable()  # until everything is loaded and frozen
    k.load_functions()
    if families:
        from multiprocessing import connection

        # That of managers; AF_UNIX, the default, is refused.
        connection.default_family = "AF_INET"  # type: ignore[attr-defined]
    limit_shared_mappings()
    preload_packages(packages)
    with contextlib.suppress(OSError):
        build_filter(k.machine(), families)
