"""Restoration of folders after a trial, so that the next trial finds them unchanged."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from stat import S_IMODE, S_ISDIR, S_ISREG
from typing import NamedTuple

_MAX_FILE_BYTES, _MAX_TOTAL_BYTES = 1 << 20, 64 << 20


class _Entry(NamedTuple):
    """State of a file or folder; `content` is None if it is not kept."""

    mode: int
    size: int
    changed_ns: int
    content: bytes | None = None

    @property
    def signature(self) -> tuple[int, int, int]:
        size, changed_ns = (0, 0) if S_ISDIR(self.mode) else (self.size, self.changed_ns)
        return self.mode, size, changed_ns


class FolderState:
    """State of the files of some folders, with the content of files of at most a megabyte.

    Mounted folders in them (an environment) are left out, because they are read-only.
    """

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = [item for item in roots if os.path.isdir(item)]
        self._devices = {os.stat(item).st_dev for item in self._roots}
        self._entries: dict[str, _Entry] = {}
        self._left_count, self._kept_bytes = 0, 0
        for entry, status in self._scan():
            content = self._read(entry.path, status)
            changed = _Entry(status.st_mode, status.st_size, status.st_mtime_ns, content)
            self._entries[entry.path] = changed

    def restore(self) -> str:
        """Remove new files and put back changed ones; return a path that could not be put back."""
        found: set[str] = set()
        failed = ""
        for entry, status in self._scan():
            old = self._entries.get(entry.path)
            now = _Entry(status.st_mode, status.st_size, status.st_mtime_ns)
            if old is not None and old.signature == now.signature:
                found.add(entry.path)
            elif old is not None and S_ISDIR(old.mode) and S_ISDIR(now.mode):
                os.chmod(entry.path, S_IMODE(old.mode))
                found.add(entry.path)
            else:
                self._remove(entry.path)
        lost = self._entries.keys() - found if len(found) < len(self._entries) else ()
        for path in sorted(lost):
            failed = failed or ("" if self._put_back(path, self._entries[path]) else path)
        return failed

    def _scan(self) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
        """Yield the entries of the folders, except entries of new subfolders."""
        waiting, is_first = list(self._roots), not self._entries
        while waiting:
            folder = waiting.pop()
            try:
                entries = list(os.scandir(folder))
            except OSError:
                continue
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    # Files of an overlay have other devices than its folders.
                    if S_ISDIR(status.st_mode) and status.st_dev not in self._devices:
                        continue
                    yield entry, status
                    if S_ISDIR(status.st_mode) and (is_first or entry.path in self._entries):
                        waiting.append(entry.path)

    def _read(self, path: str, status: os.stat_result) -> bytes | None:
        left = min(_MAX_FILE_BYTES, _MAX_TOTAL_BYTES - self._kept_bytes)
        if not S_ISREG(status.st_mode) or status.st_size > left:
            return None
        with suppress(OSError), open(path, "rb") as file:
            self._kept_bytes += status.st_size
            return file.read()
        return None

    def _remove(self, path: str) -> None:
        """Remove a file or folder; rename what cannot be removed (modes, depth)."""
        if os.path.isdir(path) and not os.path.islink(path):
            with suppress(RecursionError):
                shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                os.unlink(path)
        if os.path.lexists(path):
            self._left_count += 1
            with suppress(OSError):
                left = f"{os.path.dirname(self._roots[0])}/left-{os.getpid()}-{self._left_count}"
                os.rename(path, left)

    def _put_back(self, path: str, entry: _Entry) -> bool:
        with suppress(OSError):
            if S_ISDIR(entry.mode):
                os.makedirs(path, exist_ok=True)
            elif entry.content is not None:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(entry.content)
            else:
                return False
            os.chmod(path, S_IMODE(entry.mode))
            os.utime(path, ns=(entry.changed_ns, entry.changed_ns))
            return True
        return False
