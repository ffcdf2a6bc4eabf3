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

_MAX_ROUNDS = 5  # a stray may fork between being seen and being ended


def create_temporary_folder(prefix: str = "greenloop-") -> Path:
    """A new one, which the caller removes. Raises SandboxError where there is no place for it."""
    try:
        return Path(tempfile.mkdtemp(prefix=prefix)).resolve()
    except OSError as error:
        raise SandboxError(f"no temporary directory for the tests: {error}") from None


def kill_stray_processes(marker: str) -> None:
    """Kills every process of this user that was started with `mark` (`NAME=value`) around it.

    The mark must be unique to the run. Where there is no /proc (macOS) nothing happens.
    """
    for _ in range(_MAX_ROUNDS):
        if not [number for number in _iter_pids() if _kill_if_marked(number, os.fsencode(marker))]:
            return


def _iter_pids() -> Iterator[int]:
    with contextlib.suppress(OSError):
        yield from (int(name) for name in os.listdir("/proc") if name.isdecimal())


def _kill_if_marked(pid: int, marker: bytes) -> bool:
    """Whether this one had to be killed. The handle keeps its number from meaning another."""
    if pid == os.getpid():
        return False
    try:
        if marker not in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            return False
        handle = os.pidfd_open(pid)
    except (OSError, AttributeError):
        return False
    try:
        if marker in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def remove_folder(root: Path) -> None:
    """Takes a folder away, even where its permissions were taken away or it is endlessly deep."""
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(root)
        return
    for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):  # neither follows links
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run([*command, "--", str(root)], capture_output=True, timeout=60)
