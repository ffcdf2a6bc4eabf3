"""Landlock rules and system-call filter of a run in a container, besides the container's own."""

from __future__ import annotations

import errno
import os
import sys

from ..isolation import landlock, seccomp
from ..isolation import syscalls as k

_READABLE = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/etc/ld.so.cache")
_DEVICES = ("/dev/random", "/dev/urandom")
_WRITABLE = ("/tmp", "/dev/shm", "/proc", "/dev/null", "/dev/full")
_INOTIFY_CALLS = {"x86_64": (253, 294), "aarch64": (26,)}  # inotify_init, inotify_init1


def harden_process() -> None:
    """Restrict this process and its descendants. Raises OSError."""
    if landlock.version():
        paths = (*_READABLE, *_DEVICES, *_find_python_paths())
        landlock.restrict(paths, _WRITABLE, files_only=True)
    seccomp.install_program(_build_inotify_filter(k.machine()))


def _find_python_paths() -> set[str]:
    """Return where this Python and its libraries are, wherever an image has them."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        paths = {line.split(maxsplit=5)[-1].strip() for line in file if "/" in line}
    libraries = {path for path in paths if os.path.isfile(path)}
    return libraries | {os.path.realpath(sys.base_prefix), os.path.realpath(sys.executable)}


def _build_inotify_filter(name: str) -> bytes:
    """Fail as if all instances were in use: without root they count for the host's user too."""
    program = seccomp.BpfProgram()
    program.add(seccomp.LOAD, 0)
    for number in _INOTIFY_CALLS[name]:
        program.deny(number, errno.EMFILE)
    program.add(seccomp.RETURN, seccomp.ALLOW)
    return program.to_bytes()
