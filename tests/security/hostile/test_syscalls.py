"""System calls used for sandbox escapes: each fails with an error, or ends the run."""

import os
from typing import Any

import pytest

from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.guest.isolation import seccomp, seccomp_strict
from tests.security.hostile.conftest import PRELUDE, Attack, answer_calls, is_refused

MACHINE = {"amd64": "x86_64", "arm64": "aarch64"}.get(os.uname().machine, os.uname().machine)
FILTERED = seccomp._DENIED[MACHINE]
NEW = {
    "user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "network": 0x40000000,
    "ipc": 0x8000000, "names": 0x4000000, "cgroup": 0x2000000, "time": 0x80,
}  # fmt: skip
CODE = (
    f"""
FILTERED = {FILTERED!r}
SYNCFS = {seccomp._IGNORED[MACHINE]["syncfs"]}
CLONE, MMAP, SETPRIORITY, PRLIMIT = {seccomp._CLONE[MACHINE]}, {seccomp._MMAP[MACHINE]}, \\
    {seccomp._SETPRIORITY[MACHINE]}, {seccomp._PROCESS_ATTRIBUTE_CALLS[MACHINE][0]}
"""
    + """
import mmap


def clone(flags):
    pid = call(CLONE, flags | 17, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


def shared_anonymous():
    call(MMAP, 0, 4096, 3, 0x21, -1, 0)
    return "mapped"


def shared_zeros():
    with open("/dev/zero", "r+b") as file:
        return mmap.mmap(file.fileno(), 4096)


def still_works():
    'Ordinary uses of the calls whose arguments are checked.'
    private = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE)
    with open(os.__file__, "rb") as file:  # these calls do nothing
        mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        for advice in (mmap.MADV_RANDOM, mmap.MADV_WILLNEED, 20, 21):
            mapped.madvise(advice)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        assert os.preadv(file.fileno(), [bytearray(9)], 0) == 9
        call(SYNCFS, file.fileno())
    os.sync()
    before = os.sched_getscheduler(1), os.sched_getaffinity(1)
    os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))
    os.sched_setparam(1, os.sched_param(0))
    os.sched_setaffinity(1, [0])
    assert before == (os.sched_getscheduler(1), os.sched_getaffinity(1))
    with open(TMP + "/mapped", "w+b") as file:
        file.truncate(4096)
        shared = mmap.mmap(file.fileno(), 4096)
    os.nice(1)
    resource.getrlimit(resource.RLIMIT_AS)
    os.sched_getaffinity(0)
    return True


def shared_mapping():
    'Memory that `mmap` shares with a child process; more than the limit is refused.'
    shared = mmap.mmap(-1, 100_000)
    assert refused(mmap.mmap, -1, 1 << 30) == "refused"
    try:
        child = os.fork()
    except OSError:
        shared[0] = 7
    else:
        if not child:
            shared[0] = 7
            os._exit(0)
        os.waitpid(child, 0)
    return shared[0], len(shared), isinstance(shared, mmap.mmap)


def evicted():
    'Which part of the pages of a file of the machine a run can drop from memory.'
    with open(os.__file__, "rb") as file:
        pages = len(file.read()) // 4096
        before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        mapped.madvise(mmap.MADV_RANDOM)  # one fault a page
        mapped.madvise(21)
        sum(mapped[at] for at in range(0, len(mapped), 4096))
    return (resource.getrusage(resource.RUSAGE_SELF).ru_majflt - before) / pages


def value_to_share():
    import multiprocessing
    return multiprocessing.Value("i", 7).value
"""
)
WORKING = ["still_works()", "value_to_share()", "shared_mapping()", "evicted()"]
REFUSED = [
    *(f"refused(call, FILTERED['unshare'], {flag})" for flag in NEW.values()),
    *(f"refused(clone, {flag})" for name, flag in NEW.items() if name != "time"),
    "refused(call, 435, None, 0)",
    "refused(call, FILTERED['setns'], os.open('/proc/self/ns/net', 0), 0)",
    "refused(call, FILTERED['ptrace'], 0, 0, 0, 0)",
    "refused(call, FILTERED['ptrace'], 16, 1, 0, 0)",
    "refused(call, FILTERED['process_vm_readv'], 1, 0, 0, 0, 0, 0)",
    "refused(call, FILTERED['process_vm_writev'], 1, 0, 0, 0, 0, 0)",
    "refused(call, FILTERED['pidfd_getfd'], os.pidfd_open(1), 0, 0)",
    "refused(resource.prlimit, 1, resource.RLIMIT_NOFILE, (3, 3))",
    "refused(resource.prlimit, 1, resource.RLIMIT_CPU, (1, 1))",
    "refused(os.setpriority, os.PRIO_PROCESS, 1, 19)",
    "refused(os.setpriority, os.PRIO_USER, 0, 19)",
    "refused(shared_anonymous)",
    "refused(os.preadv, os.open(os.__file__, 0), [bytearray(9)], 0, os.RWF_NOWAIT)",
    "refused(write, '/proc/self/oom_score_adj', '-1')",
    "refused(write, '/proc/self/oom_score_adj', '0')",
    "refused(mmap.mmap, -1, 2 << 20, mmap.MAP_PRIVATE | 0x40000)",
    "refused(shared_zeros)",
    "refused(os.memfd_create, 'x')",
    "refused(libc_checked, 'shmget', 0, 4096, 0o1600)",
    "refused(libc_checked, 'msgget', 0, 0o1600)",
    "refused(libc_checked, 'semget', 0, 1, 0o1600)",
    "refused(ioctl, 0x5412)",
    "refused(ioctl, 0x541C)",
    *(f"refused(settings, {name!r})" for name in ("F_SETOWN", "F_SETLEASE", "F_NOTIFY")),
    *(f"refused(settings, {number})" for number in (10, 15, 1031)),  # F_SETSIG, F_SETOWN_EX, …
    *(f"refused(owned, {request})" for request in (0x8901, 0x8902)),  # FIOSETOWN, SIOCSPGRP
    "refused(socket.socket, socket.AF_UNIX)",
    "refused(socket.socketpair, socket.AF_UNIX, socket.SOCK_DGRAM)",
]
CODE += """

def libc_checked(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def settings(name):
    import fcntl
    number = getattr(fcntl, name) if isinstance(name, str) else name
    with open(TMP + "/settings", "w") as file:
        return fcntl.fcntl(file, number, 0)


def owned(request):
    import fcntl, struct
    for end in socket.socketpair():
        fcntl.ioctl(end, request, struct.pack("i", 0))


def ioctl(request):
    import fcntl
    for handle in range(4):
        try:
            return fcntl.ioctl(handle, request, b"x")
        except OSError as error:
            if error.errno != errno.EPERM:
                return f"handle {handle}: {error}"
    raise OSError("all four")
"""


@pytest.fixture(scope="module")
def results(box: Sandbox) -> dict[str, Any]:
    sweep = [f"refused(call, {number}, 0, 0, 0, 0, 0, 0)" for number in FILTERED.values()]
    return answer_calls(box, CODE, [*REFUSED, *sweep, *WORKING])


@pytest.mark.parametrize("call", REFUSED)
def test_call_is_refused(results: dict[str, Any], call: str) -> None:
    assert is_refused(results[call])


def test_each_call_of_the_filter_is_refused(results: dict[str, Any]) -> None:
    wrong = {
        name: results[f"refused(call, {number}, 0, 0, 0, 0, 0, 0)"]
        for name, number in FILTERED.items()
        if not is_refused(results[f"refused(call, {number}, 0, 0, 0, 0, 0, 0)"])
    }
    assert not wrong


def test_strict_filter_refuses_more_calls(box: Sandbox, spaces: bool) -> None:
    if spaces:
        pytest.skip("these calls are allowed in namespaces")
    tables = (
        seccomp_strict._DENIED_CALLS,
        seccomp_strict._PROCESS_CREATION,
        seccomp_strict._EXTENDED_ATTRIBUTES,
    )
    numbers = {name: number for table in tables for name, number in table[MACHINE].items()}
    numbers |= {
        "openat2": seccomp_strict._INSPECTED_CALLS[MACHINE]["openat2"],
        "a future call": 500,
    }
    sweep = {name: f"refused(call, {number}, 0, 0, 0, 0, 0, 0)" for name, number in numbers.items()}
    answers = answer_calls(box, "", list(sweep.values()))
    assert {name: answers[call] for name, call in sweep.items()} == dict.fromkeys(sweep, "refused")


def test_ordinary_use_of_the_same_calls_works(results: dict[str, Any], spaces: bool) -> None:
    assert results["still_works()"] is True
    shared = results["value_to_share()"]
    assert shared == 7 if spaces else is_refused(shared)  # not needed without child processes


_MACHINE_CODE = """
import mmap
def f():
    page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
    page.write(bytes.fromhex(CODE))
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    raise SystemExit(f"pid {function()}")
"""


@pytest.mark.skipif(MACHINE != "x86_64", reason="other architectures have one set of call numbers")
@pytest.mark.parametrize(
    "code", ["b814000000cd80c3", "b8270000400f05c3"], ids=["i386 getpid", "x32 getpid"]
)
def test_calls_with_another_architectures_numbers_end_the_run(attack: Attack, code: str) -> None:
    run = attack(PRELUDE + _MACHINE_CODE.replace("CODE", repr(code)))
    assert run.ending == "crashed"
    assert "SIGSYS" in run.detail


def test_anonymous_shared_memory_of_a_module_works_within_its_limit(
    results: dict[str, Any],
) -> None:
    assert results["shared_mapping()"] == [7, 100_000, True]


def test_pages_of_shared_files_stay_in_memory(results: dict[str, Any]) -> None:
    assert results["evicted()"] < 0.5
