"""Zygote without pytest: observed code must find no trace of tests in its process.

No file or function of this process has "test" in its name, as code can read its own stack.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

from ..entrypoints import load_entrypoints
from ..isolation.run_mounts import WORK_FOLDER
from . import child
from .file_descriptors import reserve_fds
from .forkserver import ForkServer
from .package_preload import COMMON_MODULES, preload

_KIND = "scenarios"


def main(control_fd: int, root: str = "", modules: Sequence[str] = ()) -> None:
    """Serve runs until the host closes the control socket; arguments as those of `main.main`."""
    if root:
        os.environ["TMPDIR"] = root
    control = socket.socket(fileno=reserve_fds(control_fd))
    preload(COMMON_MODULES, modules, child.socket_families(not root))
    entrypoints = load_entrypoints([_KIND])
    server = ForkServer(control, root)
    if not root:
        os.chdir(WORK_FOLDER)
    run = server.wait_for_run()
    child.exit_with(lambda: child.run_cold(*run, entrypoints))
