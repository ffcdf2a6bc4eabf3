"""The filter that makes up for namespaces where there are none: what Landlock does not cover.

One process, no others: a clone must be a thread. So a number of a process can only mean itself, and
what it uses can be told without adding up. Where a call has to be refused that ordinary programs
make, the error is one that they expect.
"""

from __future__ import annotations

import errno

from .seccomp import ALLOW, AND, AT_LEAST, EQUAL, ERRNO, LOAD, RETURN, BpfProgram

# Shared memory, semaphores and queues of this machine are reached by number, without a path. A unix
# socket that is made as one of a pair could still go elsewhere; a message can hide open files.
# Watchers are counted for each user. Signals by handle cannot be told apart by number.
_DENIED_CALLS = {
    "x86_64": {
        "shmat": 30, "shmctl": 31, "semop": 65, "semctl": 66, "semtimedop": 220, "msgsnd": 69,
        "msgrcv": 70, "msgctl": 71, "mq_unlink": 241, "connect": 42, "bind": 49, "listen": 50,
        "accept": 43, "accept4": 288, "sendmsg": 46, "sendmmsg": 307, "inotify_init": 253,
        "inotify_init1": 294, "tkill": 200, "pidfd_open": 434, "pidfd_send_signal": 424,
        "file_setattr": 469,
    },
    "aarch64": {
        "shmat": 196, "shmctl": 195, "semop": 193, "semctl": 191, "semtimedop": 192, "msgsnd": 189,
        "msgrcv": 188, "msgctl": 187, "mq_unlink": 181, "connect": 203, "bind": 200, "listen": 201,
        "accept": 202, "accept4": 242, "sendmsg": 211, "sendmmsg": 269, "inotify_init1": 26,
        "tkill": 130, "pidfd_open": 434, "pidfd_send_signal": 424, "file_setattr": 469,
    },
}  # fmt: skip
# As at the limit of processes; as in a file system without extended attributes.
_PROCESS_CREATION = {"x86_64": {"fork": 57, "vfork": 58}, "aarch64": {}}
_EXTENDED_ATTRIBUTES = {
    "x86_64": {
        "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "getxattr": 191, "lgetxattr": 192,
        "fgetxattr": 193, "listxattr": 194, "llistxattr": 195, "flistxattr": 196,
        "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199, "setxattrat": 463,
        "getxattrat": 464, "listxattrat": 465, "removexattrat": 466,
    },
    "aarch64": {
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "getxattr": 8, "lgetxattr": 9,
        "fgetxattr": 10, "listxattr": 11, "llistxattr": 12, "flistxattr": 13, "removexattr": 14,
        "lremovexattr": 15, "fremovexattr": 16, "setxattrat": 463, "getxattrat": 464,
        "listxattrat": 465, "removexattrat": 466,
    },
}  # fmt: skip
# Rights and times of files are not Landlock's business. Who may write to a file may also set its
# time, and whose it is its rights: so these do nothing and say that it went well. Only who owns
# nothing elsewhere may set rights.
_FILE_TIMES = {
    "x86_64": {"utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280},
    "aarch64": {"utimensat": 88},
}
_FILE_MODES = {
    "x86_64": {"chmod": 90, "fchmod": 91, "fchmodat": 268, "fchmodat2": 452},
    "aarch64": {"fchmod": 52, "fchmodat": 53, "fchmodat2": 452},
}
_FILE_OWNERS = {
    "x86_64": {"chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260},
    "aarch64": {"fchown": 55, "fchownat": 54},
}
# Calls that are looked at more closely; of the signals, the argument that names the process is the
# first.
_SIGNALS = {
    "x86_64": {"kill": 62, "tgkill": 234, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297},
    "aarch64": {"kill": 129, "tgkill": 131, "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240},
}
_INSPECTED_CALLS = {
    "x86_64": {
        "clone": 56, "socketpair": 53, "ioctl": 16, "fcntl": 72, "prctl": 157, "open": 2,
        "openat": 257, "openat2": 437, "truncate": 76,
    },
    "aarch64": {
        "clone": 220, "socketpair": 199, "ioctl": 29, "fcntl": 25, "prctl": 167, "openat": 56,
        "openat2": 437, "truncate": 45,
    },
}  # fmt: skip
_FIRST_UNKNOWN_CALL = 470  # what calls of later kernels do cannot be known here
_THREAD_FLAGS = 0x100 | 0x400 | 0x10000  # shares memory, open files and the process with its maker
_SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE_MASK = 1, 5, 0xF
_O_TRUNC, _O_ACCMODE = 0o1000, 3
# Is it a terminal, how wide; to be closed on exec; not to block; how much can be read. Others reach
# into file systems by a file that may only be read.
_ALLOWED_IOCTLS = (0x5401, 0x802C542A, 0x5413, 0x5450, 0x5451, 0x5421, 0x541B)
# Owner and signal of a file could be a process elsewhere; leases stop others; pipes stay small.
_DENIED_FCNTLS = (8, 10, 15, 1024, 1026, 1031)
_DENIED_PRCTLS = (1, 4)  # it dies with its supervisor, and the supervisor may look at it


def build_strict_filter(name: str, pid: int, *, has_own_user: bool, landlock_version: int) -> bytes:
    """The filter for one machine and one process.

    `own_user`: the run has a user of its own, who owns nothing elsewhere. `level`: of Landlock.
    """
    program, calls = BpfProgram(), _INSPECTED_CALLS[name]
    program.add(LOAD, 0)
    program.add(AT_LEAST, _FIRST_UNKNOWN_CALL, 0, 1)
    program.add(RETURN, ERRNO | errno.ENOSYS)
    program.deny(calls["openat2"], errno.ENOSYS)  # its flags are in memory, out of reach
    groups = [
        (_DENIED_CALLS, errno.EPERM),
        (_PROCESS_CREATION, errno.EAGAIN),
        (_EXTENDED_ATTRIBUTES, errno.ENOTSUP),
    ]
    groups += [(_FILE_TIMES, 0), (_FILE_OWNERS, errno.EPERM)]
    if not has_own_user:
        groups += [(_FILE_MODES, 0)]
    for numbers, error in groups:
        for number in numbers[name].values():
            program.deny(number, error)
    if landlock_version < 3:  # before that Landlock does not know of it
        program.deny(calls["truncate"])
    _restrict_arguments(program, calls)
    for number in _SIGNALS[name].values():
        _allow_only(program, number, 0, (pid, 0, -pid & 0xFFFFFFFF), errno.EPERM)
    program.add(RETURN, ALLOW)
    return program.to_bytes()


def _restrict_arguments(program: BpfProgram, calls: dict[str, int]) -> None:
    _allow_only(program, calls["clone"], 0, (_THREAD_FLAGS,), errno.EAGAIN, _THREAD_FLAGS)
    kinds = (_SOCK_STREAM, _SOCK_SEQPACKET)
    _allow_only(program, calls["socketpair"], 1, kinds, errno.EPROTONOSUPPORT, _SOCK_TYPE_MASK)
    _allow_only(program, calls["ioctl"], 1, _ALLOWED_IOCTLS, errno.ENOTTY)
    _deny_values(program, calls["fcntl"], 1, _DENIED_FCNTLS)
    _deny_values(program, calls["prctl"], 0, _DENIED_PRCTLS)
    # Emptied while it is opened for reading: Landlock of level 1 and 2 sees the reading alone.
    emptied, mask = (_O_TRUNC, _O_TRUNC | _O_ACCMODE), _O_TRUNC | _O_ACCMODE
    _deny_values(program, calls["openat"], 2, emptied, mask)
    if "open" in calls:
        _deny_values(program, calls["open"], 1, emptied, mask)


def _allow_only(
    program: BpfProgram,
    number: int,
    argument: int,
    values: tuple[int, ...],
    error: int,
    mask: int = 0xFFFFFFFF,
) -> None:
    """Of this call only these values of an argument (counted from 0); else an error."""
    _branch_on_argument(program, number, argument, values, (ALLOW, ERRNO | error), mask)


def _deny_values(
    program: BpfProgram,
    number: int,
    argument: int,
    values: tuple[int, ...],
    mask: int = 0xFFFFFFFF,
) -> None:
    """Of this call never these values of an argument."""
    _branch_on_argument(program, number, argument, values, (ERRNO | errno.EPERM, ALLOW), mask)


def _branch_on_argument(
    program: BpfProgram,
    number: int,
    argument: int,
    values: tuple[int, ...],
    listed_and_other: tuple[int, int],
    mask: int,
) -> None:
    listed, other = listed_and_other
    program.add(EQUAL, number, 0, len(values) + 4)
    program.add(LOAD, 16 + 8 * argument)
    program.add(AND, mask)
    for index, value in enumerate(values):
        program.add(EQUAL, value, len(values) - index, 0)
    program.add(RETURN, other)
    program.add(RETURN, listed)
