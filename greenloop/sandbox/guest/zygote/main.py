"""Zygote: the process, with pytest loaded, that is forked for each run."""

from __future__ import annotations

import os
import socket

from ..entrypoints import SESSION_KINDS, load_entrypoints
from ..isolation.run_mounts import WORK_FOLDER
from . import child
from .forkserver import ForkServer
from .package_preload import import_available
from .pytest_preload import PYTEST_MODULES, hold_session


def serve(control: socket.socket, root: str, packages: str, is_bare: bool) -> None:
    """Serve runs until the host closes the control socket; arguments as those of `start.start`.

    If `is_bare` it serves test runs only.
    """
    import_available(PYTEST_MODULES)
    entrypoints = load_entrypoints(SESSION_KINDS) if is_bare else load_entrypoints()
    server = ForkServer(control, root)
    if not root:
        os.chdir(WORK_FOLDER)
        hold_session(server.wait_for_run, server.inherited, entrypoints, packages)
    run = server.wait_for_run()
    child.exit_with(lambda: child.run_cold(*run, entrypoints))
