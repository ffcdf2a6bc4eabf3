"""macOS: a process of its own under `sandbox-exec`. Written from documentation, tried by nobody yet.

The probe tries it like every other wall before it is trusted, so a profile that does not hold, or
under which Python does not run, is refused and not relied upon.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from greenloop.errors import SandboxError
from greenloop.records import SandboxInfo
from greenloop.sandbox.backends.cleanup import temporary_folder
from greenloop.sandbox.backends.mounts import SITE, Visible, link_site, visible
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox, Room
from greenloop.sandbox.job import Work
from greenloop.sandbox.limits import Limits

_PROGRAM = "/usr/bin/sandbox-exec"
_INFO = SandboxInfo(
    backend="seatbelt",
    isolation=(
        "untested: written from documentation; no files but the interpreter's and its own, no "
        "network, no other program, by macOS's sandbox-exec; limits on time, open files and "
        "output; names and sizes of this machine's files can be asked for"
    ),
)
# What the dynamic linker and the C library of macOS read.
_SYSTEM = ("/usr/lib", "/usr/share", "/System/Library", "/System/Volumes/Preboot/Cryptexes")
_DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")
_APP = "Resources/Python.app/Contents/MacOS/Python"  # what a framework's `python3` becomes


class SeatbeltSandbox(ProcessSandbox):
    """A fresh process for each run, with a profile that denies what it does not name."""

    def __init__(self, limits: Limits | None = None) -> None:
        """Raises SandboxError where there is no place for its folder."""
        super().__init__(limits)
        self._folder = temporary_folder("greenloop-site-")
        self._seen = visible()
        link_site(self._seen, self._folder)

    @property
    def info(self) -> SandboxInfo:
        return _INFO

    def close(self) -> None:
        super().close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _python(self, room: Room) -> list[str]:
        return command(self._seen, self._folder, room.root)

    def _packages(self, work: Work) -> dict[str, str]:
        folders = [str(self._folder), *([work.packages.folder] if work.packages else [])]
        return {"PYTHONPATH": os.pathsep.join(folders)}


def command(seen: Visible, site: Path, root: Path) -> list[str]:
    """How Python is started for the run whose folder is `root`."""
    return [_PROGRAM, "-p", profile(seen, site, root), seen.python, "-s", "-S", "-B"]


def profile(seen: Visible, site: Path, root: Path) -> str:
    """The profile's text. Raises SandboxError where a path cannot be written into one."""
    app = os.path.join(os.path.realpath(sys.base_prefix), _APP)
    readable = [*_SYSTEM, str(site), str(root), *_sources(seen)]
    return "\n".join(
        [
            "(version 1)",
            "(deny default)",
            f"(allow process-exec {_each('literal', [seen.python, app])})",
            "(allow signal (target self))",
            "(allow sysctl-read)",
            "(allow file-read-metadata)",
            f'(allow file-read* (literal "/") {_each("subpath", readable)})',
            f"(allow file-read* {_each('literal', list(_DEVICES))})",
            f"(allow file-write* {_each('subpath', [str(root)])})",
            '(allow file-write-data (literal "/dev/null"))',
        ]
    )


def _sources(seen: Visible) -> list[str]:
    """The interpreter, the packages and the inside; of the system only what is named above."""
    own = (os.path.realpath(sys.base_prefix), SITE)
    return [
        source
        for source, target in seen.read_only
        if target.startswith(own) or target.endswith("/guest")
    ]


def _each(filter_name: str, paths: list[str]) -> str:
    return " ".join(f"({filter_name} {quoted(path)})" for path in paths)


def quoted(path: str) -> str:
    """A path as a string of the profile's language. Raises SandboxError for what has no place there."""
    if not path.startswith("/") or not path.isprintable():
        raise SandboxError(f"no profile can be written for the path {path!r}")
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
