"""Cleanup after a run: processes that left its group, folders that are hard to remove."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from greenloop.errors import SandboxError

_MAX_ROUNDS = 5  # a process may fork between being found and being killed


def create_temporary_folder() -> Path:
    """Create a temporary folder, which the caller removes. Raises SandboxError."""
    try:
        return Path(tempfile.mkdtemp(prefix="greenloop-")).resolve()
    except OSError as error:
        raise SandboxError(f"no temporary directory for the tests: {error}") from None


def kill_stray_processes(marker: str) -> None:
    """Kill every process of this user with `marker` (`NAME=value`) in its environment.

    The marker must be unique to the run. Without /proc (macOS) nothing happens.
    """
    for _ in range(_MAX_ROUNDS):
        if not [number for number in _iter_pids() if _kill_if_marked(number, os.fsencode(marker))]:
            return


def _iter_pids() -> Iterator[int]:
    with contextlib.suppress(OSError):
        yield from (int(name) for name in os.listdir("/proc") if name.isdecimal())


def _kill_if_marked(pid: int, marker: bytes) -> bool:
    """Kill a process if it is marked; return whether it was. A pidfd excludes a reused id."""
    if pid == os.getpid() or not _has_variable(pid, marker):
        return False
    try:
        handle = os.pidfd_open(pid)
    except (OSError, AttributeError):
        return False
    try:
        if _has_variable(pid, marker):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _has_variable(pid: int, variable: bytes) -> bool:
    try:
        return variable in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def remove_folder(root: Path) -> None:
    """Remove a folder, even one without permissions or of extreme depth."""
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(root)
        return
    for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):  # neither follows links
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run([*command, "--", str(root)], capture_output=True, timeout=60)
