"""Start of a zygote: it loads what its runs need, and then serves them.

No file or function of this process has "test" in its name, because code can read its own stack.
"""

import os
import site
import socket
from typing import NoReturn

from ..entrypoints import KINDS_WITHOUT_PYTEST, load_entrypoints
from ..isolation.run_mounts import WORK_FOLDER
from . import child
from .file_descriptors import reserve_fds
from .forkserver import ForkServer
from .preload import preload, preload_pytest


def start(control_fd: int, root: str, kinds: tuple[str, ...]) -> NoReturn:
    """Serve runs of some kinds, () for all, until the host closes the control socket.

    `root` is the folder of runs without namespaces, else ''.
    """
    if root:
        os.environ["TMPDIR"] = root
    control = socket.socket(fileno=reserve_fds(control_fd))
    preload(child.socket_families(not root))
    for complete in (site.setquit, site.setcopyright, site.sethelper):  # not called with `-S`
        complete()
    if kinds != KINDS_WITHOUT_PYTEST:
        preload_pytest()
    entrypoints = load_entrypoints(kinds) if kinds else load_entrypoints()
    server = ForkServer(control, root)
    if not root:
        os.chdir(WORK_FOLDER)
    job = server.wait_for_run()
    child.exit_with(lambda: child.run_job(job, entrypoints))
