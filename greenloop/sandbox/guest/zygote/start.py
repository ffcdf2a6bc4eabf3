"""Start of the zygotes of a sandbox: one loads the modules that both need, then forks the other.

No file or function of this process has "test" in its name, because code can read its own stack.
"""

import os
import signal
import site
import socket
from collections.abc import Sequence
from typing import NoReturn

from ..entrypoints import KINDS_WITHOUT_PYTEST, load_entrypoints
from ..isolation import syscalls as k
from ..isolation.run_mounts import WORK_FOLDER
from . import child
from .file_descriptors import reserve_fds
from .forkserver import ForkServer
from .preload import preload, preload_pytest

CODE_ZYGOTE_NAME = "gl-code-zygote"


def start(controls: Sequence[int], root: str = "") -> NoReturn:
    """Serve runs until the host closes the control sockets.

    `controls` are the descriptors of the control sockets, of which a second one is for runs without
    pytest. Then the first serves only test runs, and loads less: so test runs reveal a missing
    import that another module's import would hide. `root` is the folder of runs without namespaces,
    else ''.
    """
    if root:
        os.environ["TMPDIR"] = root
    control, *others = [socket.socket(fileno=reserve_fds(item)) for item in controls]
    preload(child.socket_families(not root))
    for complete in (site.setquit, site.setcopyright, site.sethelper):  # not called with `-S`
        complete()
    for other in others:
        if os.fork() == 0:
            k.prctl(k.PR_SET_PDEATHSIG, signal.SIGKILL)
            k.name_process(CODE_ZYGOTE_NAME)
            control.close()
            _serve(other, root, KINDS_WITHOUT_PYTEST)
        other.close()
    preload_pytest()  # not before: the other zygote must not have it loaded
    _serve(control, root, ("tests",) if others else ())


def _serve(control: socket.socket, root: str, kinds: Sequence[str]) -> NoReturn:
    """Serve runs of some kinds, by default of all kinds."""
    entrypoints = load_entrypoints(kinds) if kinds else load_entrypoints()
    server = ForkServer(control, root)
    if not root:
        os.chdir(WORK_FOLDER)
    job = server.wait_for_run()
    child.exit_with(lambda: child.run_job(job, entrypoints))
