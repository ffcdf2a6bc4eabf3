"""System calls used for sandbox escapes: each fails with an error, or ends the run."""

import os
from typing import Any

import pytest

from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.guest.isolation import seccomp, seccomp_strict
from tests.security.hostile.conftest import PRELUDE, Attack, answer_calls, is_refused
from tests.support.programs import read_program

MACHINE = {"amd64": "x86_64", "arm64": "aarch64"}.get(os.uname().machine, os.uname().machine)
FILTERED = seccomp._DENIED[MACHINE]
NEW = {
    "user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "network": 0x40000000,
    "ipc": 0x8000000, "names": 0x4000000, "cgroup": 0x2000000, "time": 0x80,
}  # fmt: skip
CODE = f"""
FILTERED = {FILTERED!r}
SYNCFS = {seccomp._IGNORED[MACHINE]["syncfs"]}
CLONE, MMAP, SETPRIORITY, PRLIMIT = {seccomp._CLONE[MACHINE]}, {seccomp._MMAP[MACHINE]}, \\
    {seccomp._SETPRIORITY[MACHINE]}, {seccomp._PROCESS_ATTRIBUTE_CALLS[MACHINE][0]}
""" + read_program(__file__, "CALLS")
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
