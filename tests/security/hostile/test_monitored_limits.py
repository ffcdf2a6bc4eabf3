"""Limits without quotas: folder and threads are polled, and the run is ended when it exceeds them."""

import pytest

from greenloop.sandbox.base import Sandbox
from tests.security.hostile.conftest import PRELUDE, Attack, Limited, select_tested
from tests.support.programs import read_programs

_FILL = """
def fill(name, count=7 << 20):
    handle = os.open(name, os.O_RDWR | os.O_CREAT)
    os.write(handle, b"x" * count)
    return handle
"""
# 16 MB are allowed, with at most 8 MB a file; each attack stops at about 70 MB.
DISK = read_programs(__file__, "DISK")


pytestmark = pytest.mark.parametrize(
    "box", select_tested("landlock"), indirect=True, scope="session"
)


@pytest.mark.parametrize("name", DISK)
def test_exceeded_disk_limit_ends_the_run(attack: Attack, name: str) -> None:
    run = attack(f"{PRELUDE}{_FILL}\ndef f():\n{DISK[name]}\n    time.sleep(60)")
    assert run.ending == "disk", run
    assert {"disk", "inodes"} & {*run.limits_hit}
    assert run.duration_s < 15


def test_open_files_cannot_be_sent_in_a_message(attack: Attack) -> None:
    run = attack(
        f"{PRELUDE}{_FILL}\nimport array\ndef f():\n"
        "    first, second = socket.socketpair()\n"
        "    files = array.array('i', [fill(TMP + '/x')])\n"
        "    first.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])\n"
    )
    assert [item.exception for item in run.failures] == ["PermissionError"]


def test_thread_with_own_open_files_is_refused(attack: Attack) -> None:
    """Kernel threads need not share open files."""
    flags = 0x100 | 0x200 | 0x800 | 0x10000  # CLONE_VM, _FS, _SIGHAND, _THREAD, without _FILES
    number = "{'x86_64': 56}.get(os.uname().machine, 220)"
    run = attack(f"{PRELUDE}\ndef f(): call({number}, {flags}, 0, 0, 0, 0)")
    assert [item.message for item in run.failures] == [
        "[Errno 11] Resource temporarily unavailable"
    ]


def test_too_many_threads_end_the_run(attack: Attack, limited: Limited) -> None:
    with limited(total_bytes=1 << 30, memory_bytes=8 << 30):
        run = attack(
            f"{PRELUDE}\ndef f():\n"
            "    for _ in range(40):\n"
            "        try: threading.Thread(target=time.sleep, args=[60], daemon=True).start()\n"
            "        except RuntimeError: assert False, 'can\\'t start new thread'\n"
            "    time.sleep(60)"
        )
    assert not run.passed
    assert "processes" in run.limits_hit, run


def test_monitoring_and_parent_death_cannot_be_disabled(box: Sandbox) -> None:
    """A process that is not dumpable cannot be measured; one without the signal could outlive its
    supervisor.
    """
    run = box.run_tests(
        f"{PRELUDE}\ndef f(): return [libc.prctl(1, 0, 0, 0, 0), libc.prctl(4, 0, 0, 0, 0)]",
        "from solution import f\n\n\ndef test_f():\n    assert f() == [-1, -1]\n",
    )
    assert run.passed, run


def test_run_within_its_limits_passes(attack: Attack) -> None:
    run = attack(
        f"{PRELUDE}{_FILL}\nimport shutil, tempfile, mmap\ndef f():\n"
        "    for n in range(60):\n"
        "        os.close(fill(TMP + '/x'))\n"
        "        os.unlink(TMP + '/x')\n"
        "    with tempfile.TemporaryFile() as file:\n"
        "        file.write(bytes(4 << 20))\n"
        "        file.flush()\n"
        "        mapped = mmap.mmap(file.fileno(), 0)\n"
        "    time.sleep(0.3)\n"
        "    os.makedirs(TMP + '/a/b/c', exist_ok=True)\n"
        "    os.mkdir(TMP + '/closed', 0)\n"
        "    time.sleep(0.2)\n"
        "    assert os.stat(TMP + '/closed').st_mode & 0o777 == 0\n"
        "    shutil.copytree(TMP + '/a', TMP + '/copy')\n"
    )
    assert run.passed, run
