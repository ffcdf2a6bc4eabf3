"""macOS sandbox: one process for each run under `sandbox-exec`. Not tested on macOS yet.

Like every backend it must pass the self-check: a profile that isolates too little, or under which
Python does not start, is refused.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from greenloop.errors import SandboxError
from greenloop.records import SandboxInfo
from greenloop.sandbox.backends.cleanup import create_temporary_folder
from greenloop.sandbox.backends.mounts import SITE, GuestMounts, build_guest_mounts, link_site
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.limits import ResourceLimits

_PROGRAM = "/usr/bin/sandbox-exec"
_INFO = SandboxInfo(
    backend="seatbelt",
    isolation=(
        "untested: written from documentation; no files but the interpreter's and its own, no "
        "network, no other program, by macOS's sandbox-exec; limits on time, open files and "
        "output; names and sizes of this machine's files can be asked for"
    ),
)
# Read by the dynamic linker and the C library.
_SYSTEM_PATHS = ("/usr/lib", "/usr/share", "/System/Library", "/System/Volumes/Preboot/Cryptexes")
_DEVICES = ["/dev/null", "/dev/random", "/dev/urandom"]
# Started by the `python3` of a framework build.
_FRAMEWORK_PYTHON = "Resources/Python.app/Contents/MacOS/Python"


class SeatbeltSandbox(ProcessSandbox):
    """Runs each job in a new process, with a profile that denies everything it does not name."""

    info = _INFO

    def __init__(self, limits: ResourceLimits | None = None) -> None:
        """Create the folder of the packages. Raises SandboxError where that fails."""
        super().__init__(limits)
        self.site = str(create_temporary_folder("greenloop-site-"))
        self._mounts = build_guest_mounts()
        link_site(self._mounts, Path(self.site))

    def close(self) -> None:
        super().close()
        shutil.rmtree(self.site, ignore_errors=True)

    def python_command(self, root: Path) -> list[str]:
        return build_command(self._mounts, Path(self.site), root)


def build_command(mounts: GuestMounts, site: Path, root: Path) -> list[str]:
    """Return the command that starts Python for the run in the folder `root`."""
    return [_PROGRAM, "-p", build_profile(mounts, site, root), mounts.python, "-s", "-S", "-B"]


def build_profile(mounts: GuestMounts, site: Path, root: Path) -> str:
    """Return the text of a profile. Raises SandboxError where a path cannot be written in it."""
    app = os.path.join(os.path.realpath(sys.base_prefix), _FRAMEWORK_PYTHON)
    readable = [*_SYSTEM_PATHS, str(site), str(root), *_list_readable_sources(mounts)]
    return "\n".join(
        [
            "(version 1)",
            "(deny default)",
            f"(allow process-exec {_format_filters('literal', [mounts.python, app])})",
            "(allow signal (target self))",
            "(allow sysctl-read)",
            "(allow file-read-metadata)",
            f'(allow file-read* (literal "/") {_format_filters("subpath", readable)})',
            f"(allow file-read* {_format_filters('literal', _DEVICES)})",
            f"(allow file-write* {_format_filters('subpath', [str(root)])})",
            '(allow file-write-data (literal "/dev/null"))',
        ]
    )


def _list_readable_sources(mounts: GuestMounts) -> list[str]:
    """Return the paths of the interpreter, the packages and the guest package."""
    own = (os.path.realpath(sys.base_prefix), SITE)
    return [
        source
        for source, target in mounts.read_only
        if target.startswith(own) or target.endswith("/guest")
    ]


def _format_filters(filter_name: str, paths: list[str]) -> str:
    return " ".join(f"({filter_name} {quote_path(path)})" for path in paths)


def quote_path(path: str) -> str:
    """Return a path as a string literal of the profile language. Raises SandboxError."""
    if not path.startswith("/") or not path.isprintable():
        raise SandboxError(f"no profile can be written for the path {path!r}")
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
