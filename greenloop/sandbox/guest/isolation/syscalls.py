"""Linux system calls that Python has no function for, by ctypes, on x86-64 and aarch64."""

import ctypes
import fcntl
import os
import struct
from functools import lru_cache

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
ALL_NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC
ALL_NAMESPACES |= CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 4096, 0x4000, 0x40000
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 24, 36, 38
_SIGCHLD, _AT_FDCWD, _AT_RECURSIVE = 17, -100, 0x8000
_CAPABILITY_VERSION_3 = 0x20080522
_SIOCSIFFLAGS, _IFF_UP, _IFF_RUNNING = 0x8914, 0x1, 0x40
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID, _MOUNT_ATTR_NODEV = 1, 2, 4

# Numbers of calls without a libc wrapper, by architecture.
_SYSCALL_NUMBERS = {
    "x86_64": {"clone": 56, "pivot_root": 155, "mount_setattr": 442},
    "aarch64": {"clone": 220, "pivot_root": 41, "mount_setattr": 442},
}


def machine() -> str:
    """Return the architecture. Raises OSError if its system-call numbers are not known."""
    name = os.uname().machine
    name = {"amd64": "x86_64", "arm64": "aarch64"}.get(name.lower(), name)
    if name not in _SYSCALL_NUMBERS:
        raise OSError(f"no system-call numbers for {name}")
    return name


@lru_cache(maxsize=1)
def libc() -> ctypes.CDLL:
    """Return the C library, opened once: opening it creates a class, slower than many calls."""
    return ctypes.CDLL(None, use_errno=True)


@lru_cache(maxsize=1)
def _libc_with_gil() -> ctypes.PyDLL:
    return ctypes.PyDLL(None, use_errno=True)


def load_functions() -> None:
    """Look up all functions in the zygote, so that forks find them loaded."""
    _libc_with_gil()
    for name in ("capset", "mount", "prctl", "syscall"):
        getattr(libc(), name)


def write_kernel_file(path: str, text: str) -> None:
    """Write to a file of the kernel in one call, which is faster than `open`. Raises OSError."""
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def check_result(result: int, operation: str) -> int:
    """Return a call's result. Raises OSError if it is negative."""
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{operation}: {os.strerror(error)}")
    return result


def mount(
    source: str | None, target: str, kind: str | None, flags: int = 0, data: str = ""
) -> None:
    """Call mount(2)."""
    parts = [None if item is None else os.fsencode(item) for item in (source, target, kind)]
    number = ctypes.c_ulong(flags)
    check_result(libc().mount(*parts, number, os.fsencode(data) or None), f"mount {kind} {target}")


def make_read_only(target: str, *, recursive: bool = True, allow_devices: bool = False) -> None:
    """Make a mount (and all below it) read-only, without set-user-id programs and devices."""
    attributes = (
        _MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID | (0 if allow_devices else _MOUNT_ATTR_NODEV)
    )
    request = struct.pack("QQQQ", attributes, 0, 0, 0)
    flags = _AT_RECURSIVE if recursive else 0
    number = _SYSCALL_NUMBERS[machine()]["mount_setattr"]
    path = os.fsencode(target)
    result = libc().syscall(number, _AT_FDCWD, path, flags, request, ctypes.c_size_t(len(request)))
    check_result(result, f"mount_setattr {target}")


def pivot_root(new: str, old: str) -> None:
    """Call pivot_root(2)."""
    number = _SYSCALL_NUMBERS[machine()]["pivot_root"]
    check_result(libc().syscall(number, os.fsencode(new), os.fsencode(old)), "pivot_root")


def unmount(target: str) -> None:
    """Call umount2(2) with MNT_DETACH, which also unmounts what is in use."""
    check_result(libc().umount2(os.fsencode(target), MNT_DETACH), f"umount {target}")


def prctl(option: int, value: int = 0) -> None:
    """Call prctl(2) with one argument."""
    zero = ctypes.c_ulong(0)
    check_result(libc().prctl(option, ctypes.c_ulong(value), zero, zero, zero), f"prctl {option}")


def clone(namespaces: int) -> int:
    """Fork into new namespaces; return 0 in the child, which is pid 1 of its pid namespace.

    For a process with one thread. Functions registered by `os.register_at_fork` are not called, so
    the child must run no untrusted code before it forks again or executes a program.
    """
    flags = ctypes.c_ulong(namespaces | _SIGCHLD)
    number = _SYSCALL_NUMBERS[machine()]["clone"]
    # The child must return holding the GIL.
    return check_result(int(_libc_with_gil().syscall(number, flags, 0, 0, 0, 0)), "clone")


def map_ids(uid: int, gid: int) -> None:
    """In a new user namespace: keep the user and group id, and map no others."""
    for name, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        write_kernel_file(f"/proc/self/{name}", line)


def drop_capabilities() -> None:
    """Drop all capabilities for good."""
    with open("/proc/sys/kernel/cap_last_cap", encoding="utf-8") as file:
        last = int(file.read())
    for capability in range(last + 1):
        libc().prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    check_result(libc().capset(header, bytes(24)), "capset")
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def bring_loopback_up() -> None:
    """Bring up the loopback device of a new network namespace."""
    import socket  # not needed to build a root file system

    with socket.socket() as any_socket:
        request = struct.pack("16sh14x", b"lo", _IFF_UP | _IFF_RUNNING)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)
