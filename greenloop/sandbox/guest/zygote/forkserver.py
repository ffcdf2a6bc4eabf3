"""Fork server: forks the zygote for each run.

The control socket delivers one message for each run: its limits and its socket, from which the
zygote never reads.
"""

import gc
import json
import os
import signal
import socket
from typing import Any, NoReturn

from ..isolation import landlock_run
from ..isolation import syscalls as k
from . import child
from .supervisor import send_startup_error, supervise

_MAX_LIMITS_BYTES = 65536


class ForkServer:
    """Server that forks this process for each run that the host requests."""

    def __init__(self, control: socket.socket, root: str) -> None:
        """`root` is the folder of runs without namespaces; '' if each run gets its own."""
        self._control, self._has_namespaces, self._root = control, not root, root
        # The same for all runs, but code cannot know it in advance.
        self._first_pid = 1000 + int.from_bytes(os.urandom(2), "big") % 30_000

    def wait_for_run(self) -> dict[str, Any]:
        """Serve requests; return a job, only in the process of its run."""
        child.unload_guest_modules()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps ended children
        gc.freeze()  # without a collection, which would take longer than it saves
        gc.enable()
        self._control.send(b"ready")
        while True:
            if (job := self._serve_run()) is not None:
                return job

    def _serve_run(self) -> dict[str, Any] | None:
        """Serve one request; return the job in the run's process, None in the zygote."""
        limits, handles, _, _ = socket.recv_fds(self._control, _MAX_LIMITS_BYTES, 1)
        if not limits:
            self._shut_down()
        run, ids = socket.socket(fileno=handles[0]), (os.getuid(), os.getgid())
        try:
            pid = k.clone(k.ALL_NAMESPACES if self._has_namespaces else 0)
        except OSError as error:  # no memory or namespaces; the next run may succeed
            send_startup_error(run, error)
            return None
        if pid:
            run.close()
            return None
        self._control.close()
        return supervise(run, json.loads(limits), ids, self._has_namespaces, self._first_pid)

    def _shut_down(self) -> NoReturn:
        """Exit after the host has closed the control socket."""
        if self._root:
            landlock_run.remove_run_folders(self._root)
        os._exit(0)
