"""System-call filter for untrusted code: a deny list of calls that tests do not need.

Python, pytest and packages make too many different calls for an allow list. The filter is the
second line of defence behind namespaces.
"""

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

LOAD, EQUAL, GREATER_OR_EQUAL, _ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ALLOW, _KILL_PROCESS, ERRNO = 0x7FFF0000, 0x80000000, 0x50000
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_FILTER_MODE = 2
# TIOCSTI and TIOCLINUX type into the terminal that greenloop was started from; FIOSETOWN and
# SIOCSPGRP are F_SETOWN of a socket.
_DENIED_IOCTLS = (0x5412, 0x541C, 0x8901, 0x8902)
# F_SETOWN, F_SETSIG, F_SETOWN_EX: signals to other processes; F_SETLEASE, F_NOTIFY: delay or watch
# other processes; F_SETPIPE_SZ: memory that no limit counts.
_DENIED_FCNTLS = (8, 10, 15, 1024, 1026, 1031)
_AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
_SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE_MASK = 1, 5, 0xF
ALL_BITS = 0xFFFFFFFF
_FIRST_ARGUMENT_OFFSET = 16  # in struct seccomp_data; each argument has 8 bytes
Values = tuple[int, ...]


def by_machine(numbers: dict[str, tuple[int | None, int | None]]) -> dict[str, dict[str, int]]:
    """Return call numbers by name for x86-64 and aarch64, from pairs of both."""
    machines = enumerate(("x86_64", "aarch64"))
    return {
        machine: {name: n for name, pair in numbers.items() if (n := pair[at]) is not None}
        for at, machine in machines
    }


# Tracing and other processes' memory; mounts and namespaces; keys; kernel modules and tuning;
# memory that no limit counts (memfd, System V, POSIX queues); io_uring, which bypasses filters;
# resources of which the whole machine has a fixed number (io_setup); watches of files, which reveal
# the actions of other processes.
_DENIED = by_machine({
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    "process_mrelease": (448, 448), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "keyctl": (250, 219),
    "add_key": (248, 217), "request_key": (249, 218), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "kexec_load": (246, 104),
    "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "acct": (163, 89), "swapon": (167, 224), "swapoff": (168, 225),
    "reboot": (169, 142), "sethostname": (170, 161), "setdomainname": (171, 162),
    "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None), "quotactl": (179, 60),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171), "syslog": (103, 116), "vhangup": (153, 58), "personality": (135, 92),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194),
    "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180), "move_pages": (279, 239),
    "migrate_pages": (256, 238), "fanotify_init": (300, 262), "io_setup": (206, 0),
    "ioprio_set": (251, 30), "open_tree_attr": (467, 467), "quotactl_fd": (443, 443),
    "inotify_init": (253, None), "inotify_init1": (294, 26),
    # They reveal which pages of shared files are in memory, which depends on other runs.
    "mincore": (27, 232), "cachestat": (451, 451),
})  # fmt: skip
# Calls that do nothing and report success: those that evict or load pages of shared files, which
# another run could notice, and those that make the machine write to its disks (the files of a run
# are in memory).
_IGNORED = by_machine({
    "fadvise64": (221, 223), "readahead": (187, 213), "sync": (162, 81), "syncfs": (306, 267),
    "fsync": (74, 82), "fdatasync": (75, 83), "sync_file_range": (277, 84),
})  # fmt: skip
# Flags make a read reveal whether its pages are in memory, and a write wait for the disk.
_READ_WITH_FLAGS = by_machine({"preadv2": (327, 286), "pwritev2": (328, 287)})
_FLAGS_ARGUMENT = 5
_MADVISE = {"x86_64": 28, "aarch64": 233}
_IGNORED_ADVICE = (3, 20, 21)  # MADV_WILLNEED, MADV_COLD, MADV_PAGEOUT
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE3 = 435
_SOCKET = {"x86_64": (41, 53), "aarch64": (198, 199)}  # socket, socketpair
_IOCTL = {"x86_64": 16, "aarch64": 29}
_FCNTL = {"x86_64": 72, "aarch64": 25}
_MMAP = {"x86_64": 9, "aarch64": 222}
_SETSOCKOPT = {"x86_64": 54, "aarch64": 208}
_SOL_SOCKET, _SO_SNDBUF, _SO_RCVBUF = 1, 7, 8
_SETPRIORITY = {"x86_64": 141, "aarch64": 140}
# prlimit64, sched_setscheduler, sched_setparam, sched_setattr, sched_setaffinity: the kernel allows
# them on all processes of the user, hence on the supervisor, which they could stop or kill. With an
# id the scheduling calls do nothing but report success: ZeroMQ makes them so for its threads, and
# aborts if they fail.
_PROCESS_ATTRIBUTE_CALLS = {"x86_64": (302, 144, 142, 314, 203), "aarch64": (261, 119, 118, 274, 122)}  # fmt: skip
_CALLING_PROCESS, _PRIO_USER = 0, 2
_SHARED_ANONYMOUS, _HUGE_PAGES = 0x01 | 0x20, 0x40000


class BpfProgram:
    """A classic BPF program, built instruction by instruction."""

    def __init__(self) -> None:
        self._instructions: list[tuple[int, int, int, int]] = []

    def add(self, operation: int, value: int, if_true: int = 0, if_false: int = 0) -> None:
        """Append one instruction; the last two arguments are jump offsets."""
        self._instructions.append((operation, if_true, if_false, value))

    def deny(self, number: int, error: int = errno.EPERM) -> None:
        """Fail the call with this number. Expects the call's number to be loaded."""
        self.add(EQUAL, number, 0, 1)
        self.add(RETURN, ERRNO | error)

    def allow_values(
        self, number: int, argument: int, values: Values, error: int, mask: int = ALL_BITS
    ) -> None:
        """Fail one call unless an argument (numbered from 0, after masking) has a listed value."""
        self._branch_on_argument(number, argument, values, (ALLOW, ERRNO | error), mask)

    def deny_values(
        self,
        number: int,
        argument: int,
        values: Values,
        mask: int = ALL_BITS,
        error: int = errno.EPERM,
    ) -> None:
        """Fail one call if an argument has one of the values; error 0 is success without effect."""
        self._branch_on_argument(number, argument, values, (ERRNO | error, ALLOW), mask)

    def _branch_on_argument(
        self, number: int, argument: int, values: Values, listed_and_other: Values, mask: int
    ) -> None:
        listed, other = listed_and_other
        masking = [(AND, 0, 0, mask)] if mask != ALL_BITS else []
        self.add(EQUAL, number, 0, len(values) + 3 + len(masking))
        self.add(LOAD, _FIRST_ARGUMENT_OFFSET + 8 * argument)
        self._instructions += masking
        for index, value in enumerate(values):
            self.add(EQUAL, value, len(values) - index, 0)
        self.add(RETURN, other)
        self.add(RETURN, listed)

    def to_bytes(self) -> bytes:
        """Return the program in the kernel's layout."""
        return b"".join(struct.pack("HBBI", *item) for item in self._instructions)


@functools.lru_cache(maxsize=4)
def build_filter(name: str, families: tuple[int, ...]) -> bytes:
    """Build the filter for one machine; `families` are the socket families that stay allowed."""
    program = BpfProgram()
    program.add(LOAD, 4)
    program.add(EQUAL, _ARCHITECTURE[name], 1, 0)
    program.add(RETURN, _KILL_PROCESS)
    program.add(LOAD, 0)
    if name == "x86_64":
        program.add(GREATER_OR_EQUAL, _X32_BIT, 0, 1)
        program.add(RETURN, _KILL_PROCESS)
    program.deny(_CLONE3, errno.ENOSYS)  # its flags are in memory; libc falls back to clone
    for number in _DENIED[name].values():
        program.deny(number)
    _protect_page_cache(program, name)
    _deny_namespaces(program, _CLONE[name])
    socket, socketpair = _SOCKET[name]
    program.allow_values(socket, 0, families, errno.EAFNOSUPPORT)
    _restrict_socket_pairs(program, socketpair)
    program.deny_values(_IOCTL[name], 1, _DENIED_IOCTLS)
    program.deny_values(_FCNTL[name], 1, _DENIED_FCNTLS)
    limits, *scheduling = _PROCESS_ATTRIBUTE_CALLS[name]
    program.allow_values(limits, 0, (_CALLING_PROCESS,), errno.EPERM)
    for number in scheduling:
        program.allow_values(number, 0, (_CALLING_PROCESS,), 0)
    _deny_priority_of_other_processes(program, _SETPRIORITY[name])
    _deny_uncounted_memory(program, _MMAP[name])
    _ignore_buffer_sizes(program, _SETSOCKOPT[name])
    program.add(RETURN, ALLOW)
    return program.to_bytes()


def _protect_page_cache(program: BpfProgram, name: str) -> None:
    """Keep runs from changing or querying which pages of shared files are in memory."""
    for number in _IGNORED[name].values():
        program.deny(number, 0)
    for number in _READ_WITH_FLAGS[name].values():
        program.allow_values(number, _FLAGS_ARGUMENT, (0,), errno.EOPNOTSUPP)
    program.deny_values(_MADVISE[name], 2, _IGNORED_ADVICE, error=0)


def _deny_namespaces(program: BpfProgram, clone: int) -> None:
    program.add(EQUAL, clone, 0, 4)
    program.add(LOAD, _FIRST_ARGUMENT_OFFSET)
    program.add(_ANY_BIT, ALL_NAMESPACES, 0, 1)
    program.add(RETURN, ERRNO | errno.EPERM)
    program.add(RETURN, ALLOW)


def _restrict_socket_pairs(program: BpfProgram, socketpair: int) -> None:
    """Allow stream and seqpacket pairs, for asyncio; datagram sockets could connect elsewhere."""
    program.add(EQUAL, socketpair, 0, 8)
    program.add(LOAD, _FIRST_ARGUMENT_OFFSET)
    program.add(EQUAL, _AF_UNIX, 0, 5)
    program.add(LOAD, 24)
    program.add(AND, _SOCK_TYPE_MASK)
    program.add(EQUAL, _SOCK_STREAM, 1, 0)
    program.add(EQUAL, _SOCK_SEQPACKET, 0, 1)
    program.add(RETURN, ALLOW)
    program.add(RETURN, ERRNO | errno.EAFNOSUPPORT)


def _deny_priority_of_other_processes(program: BpfProgram, number: int) -> None:
    program.add(EQUAL, number, 0, 6)
    program.add(LOAD, 24)
    program.add(EQUAL, _CALLING_PROCESS, 0, 2)
    program.add(LOAD, _FIRST_ARGUMENT_OFFSET)
    program.add(EQUAL, _PRIO_USER, 0, 1)
    program.add(RETURN, ERRNO | errno.EPERM)
    program.add(RETURN, ALLOW)


def _deny_uncounted_memory(program: BpfProgram, mmap: int) -> None:
    """Deny huge pages and shared anonymous memory, which no limit counts after a partial munmap."""
    program.add(EQUAL, mmap, 0, 6)
    program.add(LOAD, 40)
    program.add(_ANY_BIT, _HUGE_PAGES, 2, 0)
    program.add(AND, _SHARED_ANONYMOUS)
    program.add(EQUAL, _SHARED_ANONYMOUS, 0, 1)
    program.add(RETURN, ERRNO | errno.EPERM)
    program.add(RETURN, ALLOW)


def _ignore_buffer_sizes(program: BpfProgram, setsockopt: int) -> None:
    """Ignore sizes of socket buffers but report success: no limit counts data in them."""
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


def install_filter(families: tuple[int, ...]) -> None:
    """Install the filter on this process and its descendants; allow `families`. Raises OSError."""
    install_program(build_filter(machine(), families))


def install_program(packed: bytes) -> None:
    """Add a filter to those of this process, of which the strictest result applies."""
    pointer = ctypes.cast(ctypes.c_char_p(packed), ctypes.c_void_p)
    program = _SockFprog(len(packed) // 8, pointer)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    result = libc().prctl(PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0)
    check_result(result, "seccomp")
