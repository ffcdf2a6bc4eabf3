"""Memory of the sandboxes in which an ordinary test has passed since this machine was started."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import platformdirs

from greenloop.sandbox import guest
from greenloop.sandbox.base import Sandbox

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_REMEMBERED_BACKENDS = ("native", "bubblewrap")  # others may run another Python, or other files


class CheckMemory:
    """A file in the user's cache, which says what has passed. Nothing depends on its being there."""

    def __init__(self, sandbox: Sandbox) -> None:
        parts = (sandbox.info.backend, sys.prefix)
        name = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
        self._path = Path(platformdirs.user_cache_dir("greenloop")) / f"self-check-{name}"
        self._key = _build_key(sandbox)

    def has_passed(self) -> bool:
        """Whether an ordinary test has passed with the same system, files and limits."""
        with suppress(OSError):
            return bool(self._key) and self._path.read_text("utf-8") == self._key
        return False

    def note_passed(self) -> None:
        with suppress(OSError):
            if self._key:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._path.write_text(self._key, "utf-8")


def _build_key(sandbox: Sandbox) -> str:
    """Return what the outcome depends on; '' where that is not known."""
    if sandbox.info.backend not in _REMEMBERED_BACKENDS:
        return ""
    try:
        parts = [_BOOT_ID.read_text("ascii"), os.uname().release, sys.version, str(sandbox.limits)]
        parts += map(_describe_file, _list_files())
    except OSError:
        return ""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _list_files() -> Iterator[Path]:
    """Yield what runs in the sandbox: the files of the guest, and the folder of pytest."""
    for folder in guest.__path__:
        yield from sorted(Path(folder).rglob("*.py"))
    if spec := find_spec("_pytest"):
        yield from map(Path, spec.submodule_search_locations or ())


def _describe_file(path: Path) -> str:
    status = path.stat()
    return f"{path} {status.st_size} {status.st_mtime_ns}"
