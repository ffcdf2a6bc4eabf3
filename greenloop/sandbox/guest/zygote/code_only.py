"""Zygote without pytest: observed code must find no trace of tests in its process.

No file or function of this process has "test" in its name, as code can read its own stack.
"""

from __future__ import annotations

import os
import socket
from typing import NoReturn

from ..entrypoints import KINDS_WITHOUT_PYTEST, load_entrypoints
from ..isolation.run_mounts import WORK_FOLDER
from . import child
from .forkserver import ForkServer


def serve(control: socket.socket, root: str) -> NoReturn:
    """Serve runs until the host closes the control socket; arguments as those of `start.start`."""
    entrypoints = load_entrypoints(KINDS_WITHOUT_PYTEST)
    server = ForkServer(control, root)
    if not root:
        os.chdir(WORK_FOLDER)
    run = server.wait_for_run()
    child.exit_with(lambda: child.run_job(*run, entrypoints))
