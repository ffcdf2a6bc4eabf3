"""System-call filter for runs without namespaces, for actions that Landlock does not restrict.

The run is a single process: clone may only create threads. So its resource usage is that of one
process, and it can signal only itself. Calls that ordinary programs make are refused with an error
that such programs handle.
"""

import errno

from .seccomp import ALL_BITS, ALLOW, ERRNO, GREATER_OR_EQUAL, LOAD, RETURN, BpfProgram, by_machine

# System V shared memory, semaphores and queues are addressed by number, without a path. A Unix
# socket of socketpair could be connected elsewhere; a message can carry open files. The target of a
# signal by pidfd cannot be checked.
_DENIED_CALLS = by_machine({
    "shmat": (30, 196), "shmctl": (31, 195), "semop": (65, 193), "semctl": (66, 191),
    "semtimedop": (220, 192), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_unlink": (241, 181), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
    "accept": (43, 202), "accept4": (288, 242), "sendmsg": (46, 211), "sendmmsg": (307, 269),
    "tkill": (200, 130), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "file_setattr": (469, 469),
})  # fmt: skip
# Refused as at the process limit, and as on a file system without extended attributes.
_PROCESS_CREATION = by_machine({"fork": (57, None), "vfork": (58, None)})
_EXTENDED_ATTRIBUTES = by_machine({
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "getxattr": (191, 8),
    "lgetxattr": (192, 9), "fgetxattr": (193, 10), "listxattr": (194, 11), "llistxattr": (195, 12),
    "flistxattr": (196, 13), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16), "setxattrat": (463, 463), "getxattrat": (464, 464),
    "listxattrat": (465, 465), "removexattrat": (466, 466),
})  # fmt: skip
# Landlock does not restrict modes and times of files, which a file's owner may set: these calls do
# nothing and report success. Modes may be set by a user who owns only files of the run.
_FILE_TIMES = by_machine({
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
})  # fmt: skip
_FILE_MODES = by_machine({
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
})  # fmt: skip
_FILE_OWNERS = by_machine({
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
})  # fmt: skip
# Calls whose arguments are checked; of the signal calls the first argument names the process.
_SIGNALS = by_machine({
    "kill": (62, 129), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
})  # fmt: skip
_INSPECTED_CALLS = by_machine({
    "clone": (56, 220), "ioctl": (16, 29), "prctl": (157, 167), "open": (2, None),
    "openat": (257, 56), "openat2": (437, 437), "truncate": (76, 45),
})  # fmt: skip
_FIRST_UNKNOWN_CALL = 470  # added by later kernels, with unknown effects
_THREAD_FLAGS = 0x100 | 0x400 | 0x10000  # CLONE_VM, CLONE_FILES, CLONE_THREAD
_O_TRUNC, _O_ACCMODE = 0o1000, 3
# TCGETS (both), TIOCGWINSZ, FIONCLEX, FIOCLEX, FIONBIO, FIONREAD. Others change file systems
# through a file that is open for reading only.
_ALLOWED_IOCTLS = (0x5401, 0x802C542A, 0x5413, 0x5450, 0x5451, 0x5421, 0x541B)
_DENIED_PRCTLS = (1, 4)  # PR_SET_PDEATHSIG, PR_SET_DUMPABLE: the supervisor relies on both


def build_strict_filter(name: str, pid: int, *, has_own_user: bool, landlock_version: int) -> bytes:
    """Build the filter for one machine and one process.

    With `has_own_user` the run has its own user id, which owns only files of the run.
    """
    program, calls = BpfProgram(), _INSPECTED_CALLS[name]
    program.add(LOAD, 0)
    program.add(GREATER_OR_EQUAL, _FIRST_UNKNOWN_CALL, 0, 1)
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
    program.allow_values(calls["ioctl"], 1, _ALLOWED_IOCTLS, errno.ENOTTY)
    program.deny_values(calls["prctl"], 0, _DENIED_PRCTLS)
    # Opening for reading can also truncate the file, but Landlock before version 3 checks only
    # the right to read.
    truncating, mask = (_O_TRUNC, _O_TRUNC | _O_ACCMODE), _O_TRUNC | _O_ACCMODE
    program.deny_values(calls["openat"], 2, truncating, mask)
    if "open" in calls:
        program.deny_values(calls["open"], 1, truncating, mask)
