"""Stack dump of a run at its timeout: requested by a signal, written by faulthandler.

The signal is ignored by default, so it does not disturb programs. It is sent after the timeout is
decided, because a signal may wake a blocked call.
"""

import faulthandler
import os
import select
import signal
import time

DUMP_SIGNAL = signal.SIGURG
_TIMEOUT_MS, _SETTLE_SECONDS = 200, 0.02


def register_stack_dump(handle: int) -> None:
    """Make the signal write the main thread's stack to `handle`, without blocking."""
    os.set_blocking(handle, False)
    faulthandler.register(DUMP_SIGNAL, file=handle, all_threads=False, chain=False)


def request_stack_dump(pid: int, handle: int) -> None:
    """Send the signal and wait briefly; a process that has replaced the handler does not reply."""
    os.kill(pid, DUMP_SIGNAL)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    if poll.poll(_TIMEOUT_MS):
        time.sleep(_SETTLE_SECONDS)
