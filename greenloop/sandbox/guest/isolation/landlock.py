"""Restriction of a process's file access by Landlock."""

import ctypes
import os
import struct
from collections.abc import Iterable

from .syscalls import PR_SET_NO_NEW_PRIVS, check_result, libc, prctl

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # on every architecture
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE, _READ, _READ_DIR = 1, 2, 4, 8
_MAKE_CHAR, _MAKE_BLOCK, _REFER, _TRUNCATE, _IOCTL = 1 << 6, 1 << 11, 1 << 13, 1 << 14, 1 << 15
_FIRST_RIGHTS = (1 << 13) - 1
_BIND_TCP, _CONNECT_TCP = 1, 2
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2


def version() -> int:
    """Return the kernel's Landlock version; 0 if it has none."""
    found = libc().syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION_FLAG)
    return max(0, int(found))


def restrict(readable: Iterable[str], writable: Iterable[str], *, files_only: bool = False) -> None:
    """Restrict this process to `readable` paths (read, execute) and `writable` paths (also write).

    TCP, abstract sockets and signals to other processes are denied if the kernel supports that,
    except with `files_only`, for processes that are isolated by other means.
    Raises OSError if the kernel has no Landlock or refuses a path.
    """
    level = version()
    if level < 1:
        raise OSError("the kernel has no Landlock")
    handled = _get_handled_rights(level)
    ruleset = _create_ruleset(3 if files_only else level, handled)
    try:
        for path in readable:
            _allow_path(ruleset, path, _EXECUTE | _READ | _READ_DIR)
        for path in writable:
            _allow_path(ruleset, path, handled & ~(_MAKE_CHAR | _MAKE_BLOCK))
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        check_result(libc().syscall(_RESTRICT, ruleset, 0), "landlock_restrict_self")
    finally:
        os.close(ruleset)


def _get_handled_rights(level: int) -> int:
    rights = _FIRST_RIGHTS
    for needed, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL)):
        rights |= right if level >= needed else 0
    return rights


def _create_ruleset(level: int, handled: int) -> int:
    network = _BIND_TCP | _CONNECT_TCP if level >= 4 else 0
    scope = _ABSTRACT_SOCKETS | _SIGNALS if level >= 6 else 0
    size = 8 if level < 4 else 16 if level < 6 else 24
    attributes = struct.pack("QQQ", handled, network, scope)[:size]
    result = libc().syscall(_CREATE, attributes, ctypes.c_size_t(size), 0)
    return check_result(int(result), "landlock_create_ruleset")


def _allow_path(ruleset: int, path: str, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL
        rule = struct.pack("=Qi", rights, handle)
        check_result(libc().syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0), f"landlock {path}")
    finally:
        os.close(handle)
