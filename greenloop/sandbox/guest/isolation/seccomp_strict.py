"""System-call filter for runs without namespaces: what Landlock does not restrict.

The run is a single process: clone may only make threads. So its resource usage is that of one
process, and a signal can only go to itself. Calls that ordinary programs make are refused with an
error that such programs handle.
"""

from __future__ import annotations

import errno

from .seccomp import ALL_BITS, ALLOW, AT_LEAST, ERRNO, LOAD, RETURN, BpfProgram

# System V shared memory, semaphores and queues are addressed by number, without a path. A unix socket
# made by socketpair could still be connected elsewhere; a message can carry open files. inotify
# watches are counted per user. The target of a signal by pidfd cannot be checked.
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
# Refused as at the process limit, and as on a file system without extended attributes.
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
# Landlock does not restrict modes and times of files, which a file's owner may set: these calls do
# nothing and report success. Modes may be set by a user who owns no file outside the run.
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
# Calls whose arguments are checked; of the signal calls the first argument names the process.
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
_FIRST_UNKNOWN_CALL = 470  # added by later kernels, with unknown effects
_THREAD_FLAGS = 0x100 | 0x400 | 0x10000  # CLONE_VM, CLONE_FILES, CLONE_THREAD
_SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE_MASK = 1, 5, 0xF
_O_TRUNC, _O_ACCMODE = 0o1000, 3
# TCGETS (both), TIOCGWINSZ, FIONCLEX, FIOCLEX, FIONBIO, FIONREAD. Others change file systems
# through a file that is open for reading only.
_ALLOWED_IOCTLS = (0x5401, 0x802C542A, 0x5413, 0x5450, 0x5451, 0x5421, 0x541B)
# F_SETOWN, F_SETSIG, F_SETOWN_EX: signals to other processes; F_SETLEASE, F_NOTIFY: delay other
# processes; F_SETPIPE_SZ: memory that no limit counts.
_DENIED_FCNTLS = (8, 10, 15, 1024, 1026, 1031)
_DENIED_PRCTLS = (1, 4)  # PR_SET_PDEATHSIG, PR_SET_DUMPABLE: the supervisor relies on both


def build_strict_filter(name: str, pid: int, *, has_own_user: bool, landlock_version: int) -> bytes:
    """Build the filter for one machine and one process.

    With `has_own_user` the run has a user id of its own, which owns no files outside the run.
    """
    program, calls = BpfProgram(), _INSPECTED_CALLS[name]
    program.add(LOAD, 0)
    program.add(AT_LEAST, _FIRST_UNKNOWN_CALL, 0, 1)
    program.add(RETURN, ERRNO | errno.ENOSYS)
    program.deny(calls["openat2"], errno.ENOSYS)  # its flags are in memory, which no filter reads
    groups = [
        (_DENIED_CALLS, errno.EPERM),
        (_PROCESS_CREATION, errno.EAGAIN),
        (_EXTENDED_ATTRIBUTES, errno.ENOTSUP),
        (_FILE_TIMES, 0),
        (_FILE_OWNERS, errno.EPERM),
        *([] if has_own_user else [(_FILE_MODES, 0)]),
    ]
    for numbers, error in groups:
        for number in numbers[name].values():
            program.deny(number, error)
    if landlock_version < 3:  # earlier versions do not restrict it
        program.deny(calls["truncate"])
    _restrict_arguments(program, calls)
    for number in _SIGNALS[name].values():
        program.allow_values(number, 0, (pid, 0, -pid & ALL_BITS), errno.EPERM)
    program.add(RETURN, ALLOW)
    return program.to_bytes()


def _restrict_arguments(program: BpfProgram, calls: dict[str, int]) -> None:
    program.allow_values(calls["clone"], 0, (_THREAD_FLAGS,), errno.EAGAIN, _THREAD_FLAGS)
    kinds = (_SOCK_STREAM, _SOCK_SEQPACKET)
    program.allow_values(calls["socketpair"], 1, kinds, errno.EPROTONOSUPPORT, _SOCK_TYPE_MASK)
    program.allow_values(calls["ioctl"], 1, _ALLOWED_IOCTLS, errno.ENOTTY)
    program.deny_values(calls["fcntl"], 1, _DENIED_FCNTLS)
    program.deny_values(calls["prctl"], 0, _DENIED_PRCTLS)
    # A file that is truncated while it is opened for reading: Landlock before version 3 checks
    # the reading alone.
    truncating, mask = (_O_TRUNC, _O_TRUNC | _O_ACCMODE), _O_TRUNC | _O_ACCMODE
    program.deny_values(calls["openat"], 2, truncating, mask)
    if "open" in calls:
        program.deny_values(calls["open"], 1, truncating, mask)
