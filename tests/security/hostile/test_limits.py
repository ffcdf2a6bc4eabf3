"""Each limit, exceeded on purpose: the run reports it by name and value."""

from __future__ import annotations

import pytest

from greenloop.records import Ending, LimitName
from greenloop.sandbox.base import Sandbox
from tests.security.hostile.conftest import PRELUDE, Attack, Limited

_WRITE = """
def fill(path, megabytes):
    with open(path, "wb") as file:
        for _ in range(megabytes):
            file.write(bytes(1 << 20))
"""
_BURN = """
def burn():
    while True: pass
"""
# By limit: the action, changed limits, the ending, words of the report.
REACHED: dict[LimitName, tuple[str, dict[str, float], Ending, str]] = {
    "wall time": ("time.sleep(60)", {"timeout_s": 1.0}, "timeout", "still running after 1 s"),
    "cpu": ("burn()", {"cpu_s": 1}, "cpu", "more than 1 s of CPU time in one process"),
    "memory": (
        "bytearray(1 << 30)",
        {},
        "finished",
        "more than 192 MB of memory in one process",
    ),
    "total memory": (
        "kept = bytearray(os.urandom(4096)) * 50000; time.sleep(60)",
        {"memory_bytes": 1 << 30},
        "memory",
        "more than 128 MB of memory in all, with its files",
    ),
    "processes": (
        "[threading.Thread(target=time.sleep, args=(5,), daemon=True).start() for _ in range(99)]"
        "; time.sleep(5)",
        {"memory_bytes": 8 << 30},
        "finished",
        "more than 24 processes and threads",
    ),
    "disk": (
        "[fill(f'{TMP}/{n}', 6) for n in range(4)]",
        {},
        "finished",
        "more than 16 MB of files",
    ),
    "inodes": (
        "[open(f'{TMP}/{n}', 'w').close() for n in range(1000)]",
        {},
        "finished",
        "more than 512 files and folders",
    ),
    "shared memory": (
        "fill('/dev/shm/x', 6)",
        {},
        "finished",
        "more than 4 MB of shared memory",
    ),
    "open files": (
        "kept = [open('/dev/null') for _ in range(100)]",
        {},
        "finished",
        "more than 64 open files in one process",
    ),
    "file size": ("fill(f'{TMP}/x', 9)", {}, "finished", "a file of more than 8 MB"),
    "output": (
        "[os.write(1, bytes(65536)) for _ in range(99)]",
        {},
        "output",
        "more than 1024 KB of output",
    ),
}


# Endings without quotas: the run's usage is polled.
POLLED: dict[LimitName, Ending] = {"disk": "disk", "inodes": "disk"}


@pytest.mark.parametrize("name", REACHED)
def test_limit_is_reported_by_name(
    box: Sandbox, attack: Attack, limited: Limited, spaces: bool, name: LimitName
) -> None:
    if name == "shared memory" and not spaces:
        pytest.skip("without namespaces there is no shared memory at all")
    action, settings, ending, words = REACHED[name]
    if not spaces:
        ending = POLLED.get(name, ending)
        action += "; time.sleep(5)" if name in POLLED else ""
    if name == "inodes" and "podman" in box.info.isolation:
        ending = "disk"  # podman cannot limit their number: they are counted
    with limited(**settings):
        run = attack(f"{PRELUDE}{_WRITE}{_BURN}\ndef f():\n    {action}")
    if name == "processes" and run.ending == "processes":
        ending = "processes"  # without a user id of its own the run is ended
    assert run.ending == ending, run
    assert run.limits_hit == (name,)
    assert words in run.detail
    assert not run.passed


def test_ignored_cpu_signal_is_followed_by_a_kill(attack: Attack, limited: Limited) -> None:
    ignore = "signal.signal(signal.SIGXCPU, signal.SIG_IGN)"
    with limited(cpu_s=1):
        run = attack(f"{PRELUDE}{_BURN}\ndef f():\n    {ignore}\n    burn()")
    assert (run.ending, run.limits_hit) == ("cpu", ("cpu",)), run


def test_death_without_processes_is_reported(
    attack: Attack, limited: Limited, spaces: bool
) -> None:
    threads = (
        "[threading.Thread(target=time.sleep, args=(9,), daemon=True).start() for _ in 'a' * 99]"
    )
    with limited(memory_bytes=8 << 30):
        run = attack(
            f"{PRELUDE}\ndef f():\n"
            f"    try: {threads}\n"
            "    except RuntimeError: time.sleep(0.3)\n"
            "    os.abort()"
        )
    if not spaces and run.ending == "crashed":
        return  # threads are polled, and may end before they are counted
    assert (run.ending, run.limits_hit) == ("processes", ("processes",)), run
    assert run.detail.startswith("more than 24 processes and threads during test_solution.py")


def test_no_limit_is_reported_if_none_was_reached(attack: Attack) -> None:
    run = attack("def f(): raise ValueError('no')")
    assert (run.limits_hit, run.detail) == ((), "")
