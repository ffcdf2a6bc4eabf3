"""What a run may leave behind: processes that left its group, a folder that resists."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from greenloop.errors import SandboxError

_ROUNDS = 5  # a stray may fork between being seen and being ended


def temporary_folder(prefix: str = "greenloop-") -> Path:
    """A new one, which the caller removes. Raises SandboxError where there is no place for it."""
    try:
        return Path(tempfile.mkdtemp(prefix=prefix)).resolve()
    except OSError as error:
        raise SandboxError(f"no temporary directory for the tests: {error}") from None


def end_strays(mark: str) -> None:
    """Kills every process of this user that was started with `mark` (`NAME=value`) around it.

    The mark must be unique to the run. Where there is no /proc (macOS) nothing happens.
    """
    for _ in range(_ROUNDS):
        if not [number for number in _processes() if _end(number, os.fsencode(mark))]:
            return


def _processes() -> Iterator[int]:
    with contextlib.suppress(OSError):
        yield from (int(name) for name in os.listdir("/proc") if name.isdecimal())


def _end(number: int, mark: bytes) -> bool:
    """Whether this one had to be killed. The handle keeps its number from meaning another."""
    if number == os.getpid():
        return False
    try:
        if mark not in Path(f"/proc/{number}/environ").read_bytes().split(b"\0"):
            return False
        handle = os.pidfd_open(number)
    except (OSError, AttributeError):
        return False
    try:
        if mark in Path(f"/proc/{number}/environ").read_bytes().split(b"\0"):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def remove(root: Path) -> None:
    """Takes a folder away, even where its permissions were taken away or it is endlessly deep."""
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(root)
        return
    for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):  # neither follows links
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run([*command, "--", str(root)], capture_output=True, timeout=60)
