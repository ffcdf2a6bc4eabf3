"""Fork bombs, daemons, signals and crashes: no process survives, and the report says what happened."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from greenloop.records import TestRun
from greenloop.sandbox.base import Sandbox
from tests.security.hostile.conftest import LIMITS, PRELUDE, Attack, Limited, answer_calls
from tests.support.programs import read_program, read_programs, read_table

BOMBS = read_programs(__file__, "BOMBS")


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_reaches_the_process_limit(
    attack: Attack, limited: Limited, spaces: bool, name: str
) -> None:
    with limited(total_bytes=1 << 30, memory_bytes=8 << 30):  # stacks are address space too
        run = attack(PRELUDE + BOMBS[name])
    if name == "threads" and not spaces:  # threads are polled, and may end before they are counted
        assert run.passed or "processes" in run.limits_hit
        return
    assert run.ending == "finished", run
    assert "processes" in run.limits_hit, run
    assert "more than 24 processes and threads" in run.detail


LEFTOVERS = read_table(__file__, "LEFTOVERS")


@pytest.mark.parametrize("name", LEFTOVERS)
def test_leftover_neither_delays_nor_survives(attack: Attack, spaces: bool, name: str) -> None:
    run = attack(f"{PRELUDE}\ndef f():\n{LEFTOVERS[name]}")
    assert run.duration_s < 15
    if ("os.fork" in LEFTOVERS[name] or "Popen" in LEFTOVERS[name]) and not spaces:
        assert [item.exception for item in run.failures] == ["BlockingIOError"]
        return
    if name != "a child that writes forever":
        assert run.passed, run


NEVER_END = read_table(__file__, "NEVER_END")


@pytest.fixture(scope="module")
def endless(box: Sandbox) -> dict[str, TestRun]:
    """Run all of them, several at once: most of them only wait."""
    box.limits = replace(LIMITS, timeout_s=0.4)
    tests = "from solution import f\n\n\ndef test_f():\n    f()\n"
    with ThreadPoolExecutor(6) as pool:
        runs = pool.map(lambda code: box.run_tests(PRELUDE + code, tests), NEVER_END.values())
        found = dict(zip(NEVER_END, runs, strict=True))
    box.limits = LIMITS
    return found


@pytest.mark.parametrize("name", NEVER_END)
def test_endless_run_is_ended(endless: dict[str, TestRun], name: str) -> None:
    assert endless[name].ending == "timeout", endless[name]
    assert endless[name].duration_s < 10


def test_lowered_cpu_limit_ends_in_a_crash(attack: Attack) -> None:
    """The run may lower its own limit, which the kernel then enforces."""
    limit = "resource.setrlimit(resource.RLIMIT_CPU, (1, 1))"
    run = attack(f"{PRELUDE}\ndef f():\n    {limit}\n    while True: pass")
    assert (
        run.ending == "crashed"
    )  # by SIGKILL: the hard limit is reached, which is not greenloop's


SIGNALS_TO_OTHERS = {
    "killing pid 1": "os.kill(1, signal.SIGKILL)",
    "killing its parent": "os.kill(os.getppid(), signal.SIGKILL)",
    "stopping pid 1": "os.kill(1, signal.SIGSTOP)",
    "terminating pid 1": "os.kill(1, signal.SIGTERM)",
    "interrupting pid 1": "os.kill(1, signal.SIGINT)",
    "hanging up pid 1": "[os.kill(1, number) for number in range(1, 65)]",
    "killing all": "refused(os.kill, -1, signal.SIGKILL)",
    "pid 1 by a handle": "signal.pidfd_send_signal(os.pidfd_open(1), signal.SIGKILL)",
}


@pytest.mark.parametrize("name", SIGNALS_TO_OTHERS)
def test_supervisor_cannot_be_killed(attack: Attack, spaces: bool, name: str) -> None:
    run = attack(f"{PRELUDE}\ndef f():\n    {SIGNALS_TO_OTHERS[name]}")
    if name == "killing all" or spaces:
        assert run.passed, run
    else:
        assert [item.exception for item in run.failures] == ["PermissionError"]


# Other ways than kill: to a thread, with a value, as the owner of a descriptor.
SIGNALS = read_program(__file__, "SIGNALS")


def test_supervisor_cannot_be_signalled_indirectly(box: Sandbox, spaces: bool) -> None:
    numbers = {"x86_64": (234, 200, 129)}.get(os.uname().machine, (131, 130, 138))
    head = "TGKILL, TKILL, SIGQUEUE = {}, {}, {}\n".format(*numbers)
    ways = ("thread", "one", "queue", "owner", "by_ioctl", "group", "all_of_them")
    calls = [f"refused({way}, os.getppid())" for way in ways]
    answers = answer_calls(box, head + SIGNALS, [*calls, "1 + 1"])
    assert answers["1 + 1"] == 2
    if not spaces:
        assert [answers[call] for call in calls] == ["refused"] * len(calls)


def test_process_can_signal_itself(attack: Attack) -> None:
    run = attack(
        f"{PRELUDE}\n"
        "def f():\n"
        "    came = []\n"
        "    signal.signal(signal.SIGUSR1, lambda *_: came.append(1))\n"
        "    os.kill(os.getpid(), signal.SIGUSR1)\n"
        "    signal.raise_signal(signal.SIGUSR1)\n"
        "    signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)\n"
        "    assert len(came) == 3\n"
    )
    assert run.passed, run


def test_host_process_cannot_be_signalled(attack: Attack, spaces: bool) -> None:
    pids = [os.getpid(), os.getppid()]
    code = f"{PRELUDE}\ndef f():\n    for pid in {pids}:\n        os.kill(pid, signal.SIGSTOP)"
    run = attack(code)
    expected = "ProcessLookupError" if spaces else "PermissionError"
    assert [item.exception for item in run.failures] == [expected]


CRASHES = {
    "os._exit": ("os._exit(0)", "exit status 0"),
    "SIGKILL": ("os.kill(os.getpid(), 9)", "SIGKILL"),
    "SIGSEGV": ("ctypes.string_at(0)", "SIGSEGV"),
    "abort": ("os.abort()", "SIGABRT"),
    "a trap": ("os.kill(os.getpid(), signal.SIGTRAP)", "SIGTRAP"),
    "killing its group": ("os.killpg(0, 9)", "SIGKILL"),
    "another program": ("os.execv('/usr/bin/true', ['true'])", "exit status 0"),
    "a wrong free": ("libc.free(ctypes.c_void_p(8))", "SIG"),
}
if sys.version_info < (3, 12):  # later versions check the C stack
    nested = "functools.reduce(lambda a, b: [a], range(60_000), [])"
    CRASHES["recursion in C"] = (f"sys.setrecursionlimit(1 << 30)\n    str({nested})", "SIGSEGV")


@pytest.mark.parametrize("name", CRASHES)
def test_crash_is_reported_with_its_cause(attack: Attack, name: str) -> None:
    action, words = CRASHES[name]
    run = attack(f"{PRELUDE}\nimport functools\ndef f():\n    {action}")
    assert run.ending == "crashed", run
    assert words in run.detail
    assert "test_solution.py::test_f" in run.detail


def test_endless_recursion_is_an_ordinary_failure(attack: Attack) -> None:
    run = attack("def f(): return f()")
    assert run.ending == "finished"
    assert [item.exception for item in run.failures] == ["RecursionError"]


def test_standard_input_is_empty(box: Sandbox) -> None:
    code = "import os\ndef f(): return os.read(0, 1)"
    tests = "from solution import f\ndef test_f():\n    assert f() == b''\n"
    assert box.run_tests(code, tests).passed
