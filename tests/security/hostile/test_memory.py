"""Attacks on memory: the run is ended at its limit and reports it, or gets no more memory."""

from typing import Any

import pytest

from greenloop.sandbox.base import Sandbox
from tests.security.hostile.conftest import PRELUDE, Attack, Limited, answer_calls, is_refused
from tests.support.programs import read_program, read_programs

# Each attack is bounded: at most 60 times the 128 MB that a run may have.
_GROW = """
import os, time
def grow(count, size):
    kept = []
    for _ in range(count):
        kept.append(bytearray(os.urandom(4096)) * (size // 4096))
    return kept
"""
OVER = read_programs(__file__, "OVER")


BY_SEVERAL = (
    "in many processes",
    "in processes that are not dumpable",
    "in orphans",
    "in processes and files",
    "in sockets",
)


@pytest.mark.parametrize("name", OVER)
def test_memory_above_the_limit_ends_the_run(
    attack: Attack, limited: Limited, spaces: bool, name: str
) -> None:
    with limited(memory_bytes=1 << 30):  # per process; the total limit is tested
        run = attack(OVER[name])
    if name in BY_SEVERAL and not spaces:
        (failure,) = run.failures
        assert failure.exception in ("BlockingIOError", "PermissionError")
        return
    assert run.ending == "memory", run
    assert "total memory" in run.limits_hit
    assert "more than 128 MB of memory in all" in run.detail


DIES = read_programs(__file__, "DIES")


@pytest.mark.parametrize("name", DIES)
def test_death_without_memory_is_reported_as_memory(
    attack: Attack, limited: Limited, name: str
) -> None:
    with limited(memory_bytes=1 << 30):
        assert attack(DIES[name]).ending == "memory"


def test_single_allocation_above_the_limit_fails_in_the_test(attack: Attack) -> None:
    run = attack("def f(): bytearray(1 << 30)")
    assert run.ending == "finished"
    assert [item.exception for item in run.failures] == ["MemoryError"]
    assert run.limits_hit == ("memory",)
    assert run.detail == "reached a limit: more than 192 MB of memory in one process"


def test_growing_list_is_reported_as_memory(attack: Attack, limited: Limited) -> None:
    with limited(total_bytes=1 << 40, memory_bytes=128 << 20):
        run = attack(f"{_GROW}\ndef f():\n    grow(400, 1 << 20)")
    assert not run.passed
    assert run.ending == "memory" or "memory" in run.detail


def test_shared_pages_count_once(attack: Attack, spaces: bool) -> None:
    """Twelve processes of 40 MB would exceed the limit if pages counted for each."""
    run = attack(
        f"{_GROW}\ndef f():\n"
        "    kept = grow(40, 1 << 20)\n"
        "    children = []\n"
        f"    for _ in range({12 if spaces else 0}):\n"
        "        child = os.fork()\n"
        "        if not child:\n"
        "            time.sleep(0.3)\n"
        "            os._exit(0)\n"
        "        children.append(child)\n"
        "    for child in children:\n"
        "        os.waitpid(child, 0)"
    )
    assert run.passed, run


CODE = PRELUDE + read_program(__file__, "CODE")


@pytest.fixture(scope="module")
def answers(box: Sandbox, spaces: bool) -> dict[str, Any]:
    calls = ["filled('/dev/shm')", "posix_shared()", "pipes()", "in_a_socket()", "refused(locked)"]
    calls += ["filled('/tmp')", "refused(os.truncate, '/tmp/x', 1 << 40)"] if spaces else []
    return answer_calls(box, CODE, calls)


def test_shared_memory_is_limited(answers: dict[str, Any], spaces: bool) -> None:
    if spaces:
        assert answers["filled('/dev/shm')"] <= 4
        assert answers["posix_shared()"] is None
    else:
        assert is_refused(answers["filled('/dev/shm')"])
        assert is_refused(answers["posix_shared()"])


def test_temporary_files_are_limited(answers: dict[str, Any], spaces: bool) -> None:
    if spaces:  # otherwise see test_monitored_limits
        assert 8 <= answers["filled('/tmp')"] <= 16


def test_kernel_memory_is_limited(answers: dict[str, Any]) -> None:
    assert answers["pipes()"] is True
    assert answers["in_a_socket()"] <= 212992
    assert answers["refused(locked)"] == "refused"
