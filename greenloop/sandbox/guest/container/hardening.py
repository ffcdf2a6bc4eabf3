"""Landlock rules of a run in a container, in addition to the container's isolation."""

import os
import sys

from ..isolation import landlock

# /proc is read-only: writes to it change how the kernel treats a process (`oom_score_adj`).
_READABLE = (
    *("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/etc/ld.so.cache"),
    *("/etc/hosts", "/etc/nsswitch.conf"),  # for `localhost`
    "/proc",
)
_DEVICES = ("/dev/random", "/dev/urandom")
_WRITABLE = ("/tmp", "/dev/shm", "/dev/null", "/dev/full")


def harden_process() -> None:
    """Restrict this process and its descendants, if the kernel has Landlock. Raises OSError."""
    if landlock.version():
        paths = (*_READABLE, *_DEVICES, *_find_python_paths())
        landlock.restrict(paths, _WRITABLE, files_only=True)


def _find_python_paths() -> set[str]:
    """Return the paths of this Python and its loaded libraries, which depend on the image."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        paths = {line.split(maxsplit=5)[-1].strip() for line in file if "/" in line}
    libraries = {path for path in paths if os.path.isfile(path)}
    return libraries | {os.path.realpath(sys.base_prefix), os.path.realpath(sys.executable)}
