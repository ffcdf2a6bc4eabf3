"""Zygote: the process, with pytest loaded, that is forked for each run."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

from ..isolation.run_mounts import WORK_FOLDER
from . import child
from .file_descriptors import reserve_fds
from .forkserver import ForkServer
from .pytest_preload import hold_session, preload


def main(
    control_fd: int,
    root: str = "",
    modules: Sequence[str] = (),
    plugins: Sequence[str] = (),
    pytest_only: bool = False,
) -> None:
    """Serve runs until the host closes the control socket.

    Args:
        root: Folder of the runs where there are no namespaces; '' if each run gets its own.
        modules: Modules of packages to preload, if that is safe.
        plugins: Packages whose pytest plugins are preloaded.
        pytest_only: Preload nothing but pytest and those modules.
    """
    if root:
        os.environ["TMPDIR"] = root
    control = socket.socket(fileno=reserve_fds(control_fd))
    preload(modules, child.socket_families(not root), pytest_only)
    server = ForkServer(control, root)
    if not root:
        os.chdir(WORK_FOLDER)
        hold_session(server.wait_for_run, server.inherited, plugins)
    run = server.wait_for_run()
    child.exit_with(lambda: child.run_cold(*run))
