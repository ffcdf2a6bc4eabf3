"""The process that is copied for each run: pytest is loaded, nothing of any run is in it."""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import sys
from collections.abc import Sequence

from ..isolation import syscalls as k
from ..isolation.run_mounts import WORK
from ..isolation.seccomp import filter_program
from ..pytest_plugin.config import ini_file
from . import child
from .file_descriptors import reserve
from .forkserver import Copies
from .package_preload import preload_packages
from .pytest_preload import hold_session, preload


def main(
    control_fd: int,
    root: str = "",
    modules: Sequence[str] = (),
    plugins: Sequence[str] = (),
    bare: bool = False,
) -> None:
    """Serves until the host goes away. `root`: no namespaces are to be had, runs live below it.

    `modules` of packages are loaded beforehand, as far as that is safe; `plugins` are packages
    whose plugins for pytest are. `bare`: besides them nothing that a run would not load itself.
    """
    spaces = not root
    if root:
        os.environ["TMPDIR"] = root
    control = socket.socket(fileno=reserve(control_fd))
    sys.dont_write_bytecode = True
    gc.disable()  # until all is loaded: then it is frozen, and never looked through
    k.get_ready()
    preload(bare)
    preload_packages(modules)
    with contextlib.suppress(OSError):  # made once, so that each run finds it
        filter_program(k.machine(), child.families(spaces))
    copies = Copies(control, root)
    if spaces:
        os.chdir(WORK)
        with copies.kept.opened():
            hold_session(WORK, ini_file(), copies.next_run, plugins)
    run = copies.next_run()
    child.end(lambda: child.from_the_beginning(run.job, run.handle))
