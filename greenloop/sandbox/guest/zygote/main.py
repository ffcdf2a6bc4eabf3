"""The process that is copied for each run: pytest is loaded, nothing of any run is in it."""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import sys
from collections.abc import Sequence

from ..isolation import syscalls as k
from ..isolation.run_mounts import WORK_FOLDER
from ..isolation.seccomp import build_filter
from ..pytest_plugin.config import ini_file
from . import child
from .file_descriptors import reserve_fds
from .forkserver import ForkServer
from .package_preload import preload_packages
from .pytest_preload import hold_session, preload_modules


def main(
    control_fd: int,
    root: str = "",
    modules: Sequence[str] = (),
    plugins: Sequence[str] = (),
    pytest_only: bool = False,
) -> None:
    """Serves until the host goes away. `root`: no namespaces are to be had, runs live below it.

    `modules` of packages are loaded beforehand, as far as that is safe; `plugins` are packages
    whose plugins for pytest are. `bare`: besides them nothing that a run would not load itself.
    """
    spaces = not root
    if root:
        os.environ["TMPDIR"] = root
    control = socket.socket(fileno=reserve_fds(control_fd))
    sys.dont_write_bytecode = True
    gc.disable()  # until all is loaded: then it is frozen, and never looked through
    k.load_functions()
    preload_modules(pytest_only)
    preload_packages(modules)
    with contextlib.suppress(OSError):  # made once, so that each run finds it
        build_filter(k.machine(), child.socket_families(spaces))
    copies = ForkServer(control, root)
    if spaces:
        os.chdir(WORK_FOLDER)
        with copies.inherited.recording():
            hold_session(WORK_FOLDER, ini_file(), copies.wait_for_run, plugins)
    run = copies.wait_for_run()
    child.exit_with(lambda: child.run_cold(run.job, run.result_fd))
