"""Where a run is when time is nearly up: asked by a signal, answered by C code in the process.

Its default is to be ignored, so programs that know nothing of it are not disturbed; what the code
under test does with alarms and timers of its own is its own affair.
"""

from __future__ import annotations

import faulthandler
import os
import signal

ASK = signal.SIGURG
_MOST = 65536


def answer_on(handle: int) -> None:
    """From now on the signal writes the lines that the main thread is at to `handle`.

    It is made not to block: who fills it with something else must not hang on it.
    """
    os.set_blocking(handle, False)
    faulthandler.register(ASK, file=handle, all_threads=False, chain=False)


def ask(pid: int) -> None:
    """Puts the question; a process that has taken the signal away does not answer."""
    os.kill(pid, ASK)


def answered(handle: int) -> str:
    """What was answered so far."""
    os.set_blocking(handle, False)
    try:
        return os.read(handle, _MOST).decode("utf-8", "replace")
    except BlockingIOError:
        return ""
