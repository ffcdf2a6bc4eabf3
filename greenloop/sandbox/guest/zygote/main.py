"""Zygote: the process, with pytest loaded, that is forked for each run."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence

from ..entrypoints import SESSION_KINDS, load_entrypoints
from ..isolation.run_mounts import WORK_FOLDER
from . import child
from .file_descriptors import reserve_fds
from .forkserver import ForkServer
from .package_preload import COMMON_MODULES, TEST_MODULES, preload
from .pytest_preload import PYTEST_MODULES, hold_session


def main(
    control_fd: int,
    root: str = "",
    modules: Sequence[str] = (),
    plugins: Sequence[str] = (),
    pytest_only: bool = False,
) -> None:
    """Serve runs until the host closes the control socket.

    `root` is the folder of the runs where there are no namespaces. Preloaded are `modules` of
    packages, if that is safe, and the pytest plugins of `plugins`; with `pytest_only` no others, so
    that a run reveals a missing import that another module's import would hide, and only test runs.
    """
    if root:
        os.environ["TMPDIR"] = root
    control = socket.socket(fileno=reserve_fds(control_fd))
    common = () if pytest_only else (*COMMON_MODULES, *TEST_MODULES)
    preload((*PYTEST_MODULES, *common), modules, child.socket_families(not root))
    entrypoints = load_entrypoints(SESSION_KINDS) if pytest_only else load_entrypoints()
    server = ForkServer(control, root)
    if not root:
        os.chdir(WORK_FOLDER)
        hold_session(server.wait_for_run, server.inherited, entrypoints, plugins)
    run = server.wait_for_run()
    child.exit_with(lambda: child.run_cold(*run, entrypoints))
