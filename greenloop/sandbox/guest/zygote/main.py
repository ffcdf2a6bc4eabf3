"""Zygote: the process, with pytest loaded, that is forked for each run."""

from __future__ import annotations

import os
import socket

from ..entrypoints import load_entrypoints
from ..isolation.run_mounts import WORK_FOLDER
from ..pytest_plugin.plugins import load_plugins
from . import child
from .forkserver import ForkServer
from .package_preload import import_pytest_modules

_TEST_KINDS = ("tests",)


def serve(control: socket.socket, root: str, packages: str, is_bare: bool) -> None:
    """Serve runs until the host closes the control socket; arguments as those of `start.start`.

    If `is_bare` it serves test runs only.
    """
    import_pytest_modules()
    load_plugins(packages)
    entrypoints = load_entrypoints(_TEST_KINDS) if is_bare else load_entrypoints()
    server = ForkServer(control, root)
    if not root:
        os.chdir(WORK_FOLDER)
    run = server.wait_for_run()
    child.exit_with(lambda: child.run_job(*run, entrypoints))
