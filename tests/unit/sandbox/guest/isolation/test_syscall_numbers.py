"""System-call numbers, compared with the kernel headers where they are installed."""

import re
from pathlib import Path

import pytest

from greenloop.sandbox.guest.isolation import landlock, seccomp, seccomp_strict, syscalls

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
_LINE = re.compile(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)", re.M)
# Added by kernels newer than the headers may be; the same number on all architectures.
NEW = {"setxattrat": 463, "getxattrat": 464, "listxattrat": 465, "removexattrat": 466}
NEW |= {"cachestat": 451, "open_tree_attr": 467, "file_setattr": 469, "fchmodat2": 452}


def all_numbers(machine: str) -> list[tuple[str, int]]:
    """Return all names and numbers of one architecture."""
    tables = [syscalls._SYSCALL_NUMBERS, seccomp._DENIED]
    tables += [seccomp._IGNORED, seccomp._READ_WITH_FLAGS]
    tables += [getattr(seccomp_strict, name) for name in _SECOND]
    found = [pair for table in tables for pair in table[machine].items()]
    found += [("clone", seccomp._CLONE[machine]), ("ioctl", seccomp._IOCTL[machine])]
    found += [("fcntl", seccomp._FCNTL[machine]), ("madvise", seccomp._MADVISE[machine])]
    found += zip(("socket", "socketpair"), seccomp._SOCKET[machine], strict=True)
    found += [("mmap", seccomp._MMAP[machine]), ("setsockopt", seccomp._SETSOCKOPT[machine])]
    found += [("setpriority", seccomp._SETPRIORITY[machine]), ("clone3", seccomp._CLONE3)]
    names = "prlimit64 sched_setscheduler sched_setparam sched_setattr sched_setaffinity"
    found += zip(names.split(), seccomp._PROCESS_ATTRIBUTE_CALLS[machine], strict=True)
    names = "landlock_create_ruleset landlock_add_rule landlock_restrict_self"
    numbers = (landlock._CREATE, landlock._ADD_RULE, landlock._RESTRICT)
    return [*found, *zip(names.split(), numbers, strict=True)]


_SECOND = "_DENIED_CALLS _PROCESS_CREATION _EXTENDED_ATTRIBUTES _FILE_TIMES _FILE_MODES _FILE_OWNERS _SIGNALS _INSPECTED_CALLS".split()


@pytest.mark.parametrize("machine", HEADERS)
def test_numbers_match_the_kernel_header(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip(f"{HEADERS[machine]} is missing: apt install linux-libc-dev")
    header = {name: int(number) for name, number in _LINE.findall(HEADERS[machine].read_text())}
    assert len(header) > 250
    wrong = {
        (name, number, header.get(name, NEW.get(name)))
        for name, number in all_numbers(machine)
        if number != header.get(name, NEW.get(name))
    }
    assert not wrong


@pytest.mark.parametrize("table", ["_DENIED_CALLS", "_EXTENDED_ATTRIBUTES", "_SIGNALS"])
def test_both_architectures_have_the_same_calls(table: str) -> None:
    numbers = getattr(seccomp_strict, table)
    assert set(numbers["aarch64"]) == set(numbers["x86_64"])


def test_both_architectures_deny_the_same_calls() -> None:
    denied = seccomp._DENIED
    only = {"iopl", "ioperm", "modify_ldt", "inotify_init"}
    assert set(denied["x86_64"]) - set(denied["aarch64"]) == only
    assert set(denied["aarch64"]) <= set(denied["x86_64"])
