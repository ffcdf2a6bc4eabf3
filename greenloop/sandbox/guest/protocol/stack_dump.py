"""Where a run is when time is up: asked by a signal, answered by C code in the process.

By default the signal is ignored, so programs that know nothing of it are not disturbed by it; what
the code under test does with alarms and timers is its own affair. The question comes when the
ending is decided: a signal may wake what would have hung.
"""

from __future__ import annotations

import faulthandler
import os
import select
import signal
import time

DUMP_SIGNAL = signal.SIGURG
_TIMEOUT_MS, _SETTLE_SECONDS = 200, 0.02
_MAX_BYTES = 65536


def register_stack_dump(handle: int) -> None:
    """From now on the signal writes the lines that the main thread is at to `handle`.

    It is made not to block: who fills it with something else must not hang on it.
    """
    os.set_blocking(handle, False)
    faulthandler.register(DUMP_SIGNAL, file=handle, all_threads=False, chain=False)


def request_stack_dump(pid: int, handle: int) -> None:
    """Puts the question and waits a moment; who has taken the signal away does not answer."""
    os.kill(pid, DUMP_SIGNAL)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    if poll.poll(_TIMEOUT_MS):
        time.sleep(_SETTLE_SECONDS)


def read_stack_dump(handle: int) -> str:
    """What was answered."""
    os.set_blocking(handle, False)
    try:
        return os.read(handle, _MAX_BYTES).decode("utf-8", "replace")
    except BlockingIOError:
        return ""
