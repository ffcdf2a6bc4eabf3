"""Attacks on memory: the run is ended at its limit and reports it, or gets no more memory."""

from __future__ import annotations

from typing import Any

import pytest

from greenloop.sandbox.base import Sandbox
from tests.security.hostile.conftest import PRELUDE, Attack, Limited, answer_calls, is_refused

# Each attack is bounded: at most 60 times the 128 MB that a run may have.
_GROW = """
import os, time
def grow(count, size):
    kept = []
    for _ in range(count):
        kept.append(bytearray(os.urandom(4096)) * (size // 4096))
    return kept
"""
OVER = {
    "in one process": f"{_GROW}\ndef f():\n    kept = grow(160, 1 << 20)\n    time.sleep(60)",
    "at import": f"{_GROW}\nkept = grow(160, 1 << 20)\ntime.sleep(60)\ndef f(): pass",
    "in many processes": (
        f"{_GROW}\ndef f():\n"
        "    for _ in range(16):\n"
        "        if not os.fork():\n"
        "            kept = grow(16, 1 << 20)\n"
        "            time.sleep(60)\n"
        "    time.sleep(60)"
    ),
    "in processes that are not dumpable": (
        f"{_GROW}\nimport ctypes\n"
        "def f():\n"
        "    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n"
        "    for _ in range(4):\n"
        "        if not os.fork():\n"
        "            kept = grow(60, 1 << 20)\n"
        "            time.sleep(60)\n"
        "    time.sleep(60)"
    ),
    "in orphans": (
        f"{_GROW}\ndef f():\n"
        "    for _ in range(8):\n"
        "        if not os.fork():\n"
        "            os.setsid()\n"
        "            if not os.fork():\n"
        "                kept = grow(24, 1 << 20)\n"
        "                time.sleep(60)\n"
        "            os._exit(0)\n"
        "    time.sleep(60)"
    ),
    "in processes and files": (
        f"{_GROW}\ndef f():\n"
        "    for n in range(2):\n"
        "        open(os.environ['TMPDIR'] + f'/{n}', 'wb').write(b'x' * (7 << 20))\n"
        "    open('/dev/shm/x', 'wb').write(b'x' * (3 << 20))\n"
        "    kept = grow(100, 1 << 20)\n"
        "    time.sleep(60)"
    ),
    "in threads": (
        f"{_GROW}\nimport threading\n"
        "def f():\n"
        "    kept = []\n"
        "    for _ in range(8):\n"
        "        threading.Thread(target=lambda: kept.append(grow(20, 1 << 20)), daemon=True).start()\n"
        "    time.sleep(60)"
    ),
    "while its first thread has ended": (
        f"{_GROW}\nimport ctypes, threading\n"
        "def f():\n"
        "    def work():\n"
        "        kept = grow(160, 1 << 20)\n"
        "        time.sleep(60)\n"
        "    threading.Thread(target=work).start()\n"
        "    exit_thread = {'x86_64': 60}.get(os.uname().machine, 93)\n"
        "    ctypes.CDLL(None).syscall(exit_thread, 0)"
    ),
    "in sockets": (
        "import os, socket, time\n"
        "def f():\n"
        "    for _ in range(16):\n"
        "        if not os.fork():\n"
        "            kept = []\n"
        "            for _ in range(20):\n"
        "                kept += socket.socketpair()\n"
        "                kept[-1].setblocking(False)\n"
        "                kept[-1].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)\n"
        "                try:\n"
        "                    while True: kept[-1].send(bytes(1 << 15))\n"
        "                except BlockingIOError: pass\n"
        "            time.sleep(60)\n"
        "    time.sleep(60)"
    ),
    "by malloc": (
        "import ctypes, time\n"
        "def f():\n"
        "    libc = ctypes.CDLL(None)\n"
        "    libc.malloc.restype = ctypes.c_void_p\n"
        "    for _ in range(150):\n"
        "        ctypes.memset(libc.malloc(1 << 20) or 0, 1, 1 << 20)\n"
        "    time.sleep(60)"
    ),
}


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


DIES = {
    "killed": f"{_GROW}\ndef f():\n    kept = grow(90, 1 << 20)\n    os.kill(os.getpid(), 9)",
    "unhandled by pytest": (
        "import os, sys\n"
        "def f():\n"
        "    try:\n"
        "        x = bytearray(1 << 40)\n"
        "    except MemoryError as error:\n"
        "        os.write(2, b'MemoryError\\n')\n"
        "        os.abort()"
    ),
}


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


CODE = PRELUDE + """
import mmap


def filled(folder):
    'Megabytes until there is no more.'
    count = 0
    try:
        while count < 64:
            with open(f"{folder}/{count}", "wb") as file:
                file.write(b"x" * (1 << 20))
            count += 1
    except OSError:
        return count
    finally:
        for name in os.listdir(folder):
            if name.isdecimal():
                os.unlink(f"{folder}/{name}")
    return count


def posix_shared():
    from multiprocessing import shared_memory
    block = shared_memory.SharedMemory(create=True, size=3 << 20)
    block.buf[:3 << 20] = bytes(3 << 20)
    block.close()
    block.unlink()


def pipes():
    import fcntl
    total = 0
    try:
        for _ in range(20):
            _, send = os.pipe()
            fcntl.fcntl(send, 1031, 1 << 20)
            total += fcntl.fcntl(send, 1032)
    except OSError:
        pass
    os.closerange(10, 64)
    return total <= 64 << 20


def in_a_socket():
    'Bytes that one socket takes, whatever buffer is requested.'
    _, send = socket.socketpair()
    send.setblocking(False)
    send.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
    total = 0
    try:
        while total < 1 << 24:
            total += send.send(bytes(4096))
    except BlockingIOError:
        pass
    return total


def locked():
    if libc.mlock(ctypes.create_string_buffer(8192), 8192) < 0:
        raise OSError(ctypes.get_errno(), "mlock")
"""


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
