"""A system-call filter for foreign code: what no test needs and what walls are broken with.

A deny list, because Python, pytest and the packages in use make many different calls; it is the
second line behind the namespaces, and one of the first where there are none.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import struct

from .syscalls import (
    ALL_NAMESPACES,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_SECCOMP,
    check_result,
    libc,
    machine,
    prctl,
)

LOAD, EQUAL, AT_LEAST, _ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ALLOW, _KILL_PROCESS, ERRNO = 0x7FFF0000, 0x80000000, 0x50000
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_FILTER_MODE = 2
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10

# Tracing and other processes' memory; mounts and namespaces; keys; kernel modules and tuning;
# memory that no limit counts (memfd, System V, POSIX queues); io_uring, which goes around filters;
# what all of the machine shares out (io_setup).
_DENIED = {
    "x86_64": {
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
        "pidfd_getfd": 438, "process_madvise": 440, "process_mrelease": 448,
        "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308,
        "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
        "fspick": 433, "mount_setattr": 442, "open_by_handle_at": 304, "name_to_handle_at": 303,
        "keyctl": 250, "add_key": 248, "request_key": 249,
        "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
        "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
        "kexec_load": 246, "kexec_file_load": 320, "init_module": 175, "finit_module": 313,
        "delete_module": 176, "acct": 163, "swapon": 167, "swapoff": 168, "reboot": 169,
        "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173, "modify_ldt": 154,
        "quotactl": 179, "settimeofday": 164, "clock_settime": 227, "clock_adjtime": 305,
        "adjtimex": 159, "syslog": 103, "vhangup": 153, "personality": 135,
        "memfd_create": 319, "memfd_secret": 447, "shmget": 29, "msgget": 68, "semget": 64,
        "mq_open": 240, "move_pages": 279, "migrate_pages": 256, "fanotify_init": 300,
        "io_setup": 206, "ioprio_set": 251, "open_tree_attr": 467, "quotactl_fd": 443,
    },
    "aarch64": {
        "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
        "pidfd_getfd": 438, "process_madvise": 440, "process_mrelease": 448,
        "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "unshare": 97, "setns": 268,
        "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
        "fspick": 433, "mount_setattr": 442, "open_by_handle_at": 265, "name_to_handle_at": 264,
        "keyctl": 219, "add_key": 217, "request_key": 218,
        "bpf": 280, "perf_event_open": 241, "userfaultfd": 282,
        "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
        "kexec_load": 104, "kexec_file_load": 294, "init_module": 105, "finit_module": 273,
        "delete_module": 106, "acct": 89, "swapon": 224, "swapoff": 225, "reboot": 142,
        "sethostname": 161, "setdomainname": 162, "quotactl": 60, "settimeofday": 170,
        "clock_settime": 112, "clock_adjtime": 266, "adjtimex": 171, "syslog": 116, "vhangup": 58,
        "personality": 92, "memfd_create": 279, "memfd_secret": 447, "shmget": 194, "msgget": 186,
        "semget": 190, "mq_open": 180, "move_pages": 239, "migrate_pages": 238, "fanotify_init": 262,
        "io_setup": 0, "ioprio_set": 30, "open_tree_attr": 467, "quotactl_fd": 443,
    },
}  # fmt: skip
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_SOCKET = {"x86_64": (41, 53), "aarch64": (198, 199)}  # socket, socketpair
_IOCTL = {"x86_64": 16, "aarch64": 29}
_MMAP = {"x86_64": 9, "aarch64": 222}
_SETSOCKOPT = {"x86_64": 54, "aarch64": 208}
_SOL_SOCKET, _SO_SNDBUF, _SO_RCVBUF = 1, 7, 8
_SETPRIORITY = {"x86_64": 141, "aarch64": 140}
# prlimit64, sched_setscheduler, sched_setparam, sched_setattr, sched_setaffinity: allowed of users
# on all their processes, so also on the supervisor, which would see nothing or be killed.
_PROCESS_ATTRIBUTE_CALLS = {
    "x86_64": (302, 144, 142, 314, 203),
    "aarch64": (261, 119, 118, 274, 122),
}
_CALLING_PROCESS, _PRIO_USER = 0, 2
_SHARED_ANONYMOUS, _HUGE_PAGES = 0x01 | 0x20, 0x40000


class BpfProgram:
    """A classic BPF program, instruction by instruction."""

    def __init__(self) -> None:
        self._instructions: list[tuple[int, int, int, int]] = []

    def add(self, operation: int, value: int, if_true: int = 0, if_false: int = 0) -> None:
        self._instructions.append((operation, if_true, if_false, value))

    def deny(self, number: int, error: int = errno.EPERM) -> None:
        """Where the call's number (loaded) is `number`: an error."""
        self.add(EQUAL, number, 0, 1)
        self.add(RETURN, ERRNO | error)

    def to_bytes(self) -> bytes:
        return b"".join(struct.pack("HBBI", *item) for item in self._instructions)


@functools.lru_cache(maxsize=4)
def build_filter(name: str, families: tuple[int, ...]) -> bytes:
    """The filter for one machine; `families` are the socket families that stay allowed."""
    program = BpfProgram()
    program.add(LOAD, 4)
    program.add(EQUAL, _ARCHITECTURE[name], 1, 0)
    program.add(RETURN, _KILL_PROCESS)
    program.add(LOAD, 0)
    if name == "x86_64":
        program.add(AT_LEAST, _X32_BIT, 0, 1)
        program.add(RETURN, _KILL_PROCESS)
    program.deny(_CLONE3, errno.ENOSYS)  # its flags are in memory, out of reach; libc falls back
    for number in _DENIED[name].values():
        program.deny(number)
    _deny_namespaces(program, _CLONE[name])
    socket, socketpair = _SOCKET[name]
    _allow_families(program, socket, families)
    _allow_families(program, socketpair, (AF_UNIX,))  # connected to nobody else: asyncio needs it
    _deny_terminal_input(program, _IOCTL[name])
    for number in _PROCESS_ATTRIBUTE_CALLS[name]:
        _deny_on_other_processes(program, number)
    _deny_priority_of_other_processes(program, _SETPRIORITY[name])
    _deny_uncounted_memory(program, _MMAP[name])
    _ignore_buffer_sizes(program, _SETSOCKOPT[name])
    program.add(RETURN, ALLOW)
    return program.to_bytes()


def _deny_namespaces(program: BpfProgram, clone: int) -> None:
    program.add(EQUAL, clone, 0, 4)
    program.add(LOAD, 16)
    program.add(_ANY_BIT, ALL_NAMESPACES, 0, 1)
    program.add(RETURN, ERRNO | errno.EPERM)
    program.add(RETURN, ALLOW)


def _allow_families(program: BpfProgram, number: int, families: tuple[int, ...]) -> None:
    program.add(EQUAL, number, 0, len(families) + 3)
    program.add(LOAD, 16)
    for index, family in enumerate(families):
        program.add(EQUAL, family, len(families) - index, 0)
    program.add(RETURN, ERRNO | errno.EAFNOSUPPORT)
    program.add(RETURN, ALLOW)


def _deny_terminal_input(program: BpfProgram, ioctl: int) -> None:
    """TIOCSTI types into the terminal of whoever started us."""
    program.add(EQUAL, ioctl, 0, 5)
    program.add(LOAD, 24)
    program.add(EQUAL, _TIOCSTI, 1, 0)
    program.add(EQUAL, _TIOCLINUX, 0, 1)
    program.add(RETURN, ERRNO | errno.EPERM)
    program.add(RETURN, ALLOW)


def _deny_on_other_processes(program: BpfProgram, number: int) -> None:
    program.add(EQUAL, number, 0, 4)
    program.add(LOAD, 16)
    program.add(EQUAL, _CALLING_PROCESS, 1, 0)
    program.add(RETURN, ERRNO | errno.EPERM)
    program.add(RETURN, ALLOW)


def _deny_priority_of_other_processes(program: BpfProgram, number: int) -> None:
    program.add(EQUAL, number, 0, 6)
    program.add(LOAD, 24)
    program.add(EQUAL, _CALLING_PROCESS, 0, 2)
    program.add(LOAD, 16)
    program.add(EQUAL, _PRIO_USER, 0, 1)
    program.add(RETURN, ERRNO | errno.EPERM)
    program.add(RETURN, ALLOW)


def _deny_uncounted_memory(program: BpfProgram, mmap: int) -> None:
    """Shared memory without a name stays after most of it was unmapped: no limit ever sees it."""
    program.add(EQUAL, mmap, 0, 6)
    program.add(LOAD, 40)
    program.add(_ANY_BIT, _HUGE_PAGES, 2, 0)
    program.add(AND, _SHARED_ANONYMOUS)
    program.add(EQUAL, _SHARED_ANONYMOUS, 0, 1)
    program.add(RETURN, ERRNO | errno.EPERM)
    program.add(RETURN, ALLOW)


def _ignore_buffer_sizes(program: BpfProgram, setsockopt: int) -> None:
    """As if it had worked: what waits in sockets is memory of nobody, so these stay small."""
    program.add(EQUAL, setsockopt, 0, 7)
    program.add(LOAD, 24)
    program.add(EQUAL, _SOL_SOCKET, 0, 4)
    program.add(LOAD, 32)
    program.add(EQUAL, _SO_SNDBUF, 1, 0)
    program.add(EQUAL, _SO_RCVBUF, 0, 1)
    program.add(RETURN, ERRNO | 0)
    program.add(RETURN, ALLOW)


class _SockFprog(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def install_filter(families: tuple[int, ...] = (AF_UNIX, AF_INET, AF_INET6)) -> None:
    """Puts the filter on this process and all that it starts. Raises OSError."""
    install_program(build_filter(machine(), families))


def install_program(packed: bytes) -> None:
    """Adds a filter to those that this process has: of their answers the strictest counts."""
    pointer = ctypes.cast(ctypes.c_char_p(packed), ctypes.c_void_p)
    program = _SockFprog(len(packed) // 8, pointer)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    result = libc().prctl(PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0)
    check_result(result, "seccomp")
