"""The zygote: restarted when it dies or is old; interrupted runs end at once."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from greenloop.errors import SandboxError
from greenloop.records import TestRun
from greenloop.sandbox.backends.namespaces import Backend, ZygoteCommand
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.warm import zygote_client
from greenloop.sandbox.warm.backend import WarmSandbox
from tests.integration.sandbox.conftest import make_sandbox
from tests.security.hostile.conftest import LIMITS, assert_ordinary, select_tested
from tests.security.hostile.host_monitor import (
    in_runs,
    list_settled_runs,
    parent,
    resident,
    wait_for_name,
)
from tests.support.programs import read_program

TESTS = "from solution import f\n\n\ndef test_f():\n    f()\n"
_NAME = "import ctypes\ndef name(text):\n    ctypes.CDLL(None).prctl(15, text.encode(), 0, 0, 0)\n"
STAYS = f"import time\n{_NAME}def f():\n    name('staying')\n    time.sleep(60)\n"
BRIEF = f"import time\n{_NAME}def f():\n    name('brief')\n    time.sleep(0.5)\n"


pytestmark = pytest.mark.parametrize(
    "box", select_tested("bubblewrap", "native", "landlock"), indirect=True, scope="session"
)


@contextmanager
def going_on(box: Sandbox, code: str, name: str) -> Iterator[tuple[Future[TestRun], int]]:
    """Start a run and yield its future and the id of its process."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(box.run_tests, code, TESTS)
        try:
            yield future, wait_for_name(name)
        finally:
            box.interrupt()


def zygote_of(pid: int) -> int:
    """Return the zygote of a run's process, the parent of its supervisor."""
    return parent(parent(pid))


def test_killed_zygote_is_replaced(box: WarmSandbox) -> None:
    with going_on(box, BRIEF, "brief") as (future, pid):
        os.kill(zygote_of(pid), signal.SIGKILL)
        assert future.result().passed  # retried: the run did not cause it
    assert_ordinary(box)


def test_killed_backend_is_replaced_and_leaves_nothing(box: WarmSandbox) -> None:
    with going_on(box, BRIEF, "brief") as (future, pid):
        outermost = zygote_of(pid)
        while parent(outermost) != os.getpid():
            outermost = parent(outermost)
        os.kill(outermost, signal.SIGKILL)
        assert future.result().passed
    assert list_settled_runs() == []


def test_killed_supervisor_is_a_crash(box: WarmSandbox) -> None:
    with going_on(box, STAYS, "staying") as (future, pid):
        os.kill(parent(pid), signal.SIGKILL)
        run = future.result()
    assert run.ending == "crashed"
    assert run.duration_s < 15


def test_old_zygote_ends_after_its_last_run(
    box: WarmSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with going_on(box, BRIEF, "brief") as (future, pid):
        old = zygote_of(pid)
        monkeypatch.setattr(zygote_client, "_MAX_RUNS", 1)
        assert_ordinary(box)
        assert future.result().passed
        monkeypatch.undo()
    assert_gone(old)


def test_zygote_survives_the_thread_that_started_it(box: WarmSandbox) -> None:
    """The parent-death signal is sent when the starting thread ends, not the process."""
    with make_sandbox(box.info.backend, LIMITS) as fresh:
        thread = threading.Thread(target=assert_ordinary, args=[fresh])
        thread.start()
        thread.join()
        zygote = fresh._zygotes.get(fresh._mounts)
        living = zygote._process
        assert_ordinary(fresh)
        assert living is zygote._process
        assert living is not None
        assert not living.is_dead()
    with pytest.raises((SandboxError, RuntimeError)):
        assert_ordinary(fresh)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["/no/such/program"], "No such file"),
        ([sys.executable, "-c", "raise OSError('no room')"], "no room"),
        (["/bin/true"], "it said nothing"),
    ],
)
def test_failed_start_reports_the_cause(command: list[str], words: str) -> None:
    backend = Backend("broken", "", lambda seen, control: ZygoteCommand(command))
    with WarmSandbox(backend, LIMITS) as broken, pytest.raises(SandboxError, match=words):
        assert_ordinary(broken)


def test_interrupt_ends_all_runs(box: WarmSandbox) -> None:
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(box.run_tests, STAYS, TESTS) for _ in range(4)]
        while len(in_runs()) < 8:  # four supervisors and four processes
            time.sleep(0.005)
        began = time.monotonic()
        box.interrupt()
        assert {run.result().ending for run in runs} == {"interrupted"}
    assert time.monotonic() - began < 5
    assert list_settled_runs() == []


def test_interrupt_does_not_wait_for_a_hanging_start(box: WarmSandbox) -> None:
    hangs = [sys.executable, "-ISc", "import time; time.sleep(20)"]
    backend = Backend("hanging", "", lambda seen, control: ZygoteCommand(hangs))
    with ThreadPoolExecutor(2) as pool, WarmSandbox(backend, LIMITS) as hanging:
        runs = [pool.submit(hanging.run_tests, "", TESTS) for _ in range(2)]
        time.sleep(0.1)
        hanging.interrupt()
        assert {run.result(10).ending for run in runs} == {"interrupted"}


ROOT = Path(__file__).parents[3]
_CALLER = read_program(__file__, "_CALLER")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "SIGKILL"])
def test_zygote_ends_with_the_host_process(box: WarmSandbox, number: int, tmp_path: Path) -> None:
    code = _CALLER.format(backend=box.info.backend, code=STAYS, tests=TESTS)
    command = [sys.executable, "-c", code]
    own = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=own) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == "ready\n"
        pid = wait_for_name("staying")
        below = [pid, zygote_of(pid)]
        caller.send_signal(number)
        output, _ = caller.communicate(timeout=20)
    assert ("interrupted" in output) == (number == signal.SIGINT)
    assert_gone(*below)
    until = time.monotonic() + 20
    while list_left_files(tmp_path) and time.monotonic() < until:
        time.sleep(0.01)
    assert list_left_files(tmp_path) == []


def list_left_files(folder: Path) -> list[str]:
    """List a folder without the files that podman creates when it is only queried."""
    own = ("podman-", "containers-")
    return [name for name in os.listdir(folder) if not name.startswith(own)]


def assert_gone(*pids: int) -> None:
    """Wait until the processes have ended."""
    until = time.monotonic() + 10
    while any(map(is_running, pids)) and time.monotonic() < until:
        time.sleep(0.005)
    assert not [pid for pid in pids if is_running(pid)]


def is_running(pid: int) -> bool:
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_eight_parallel_runs(box: WarmSandbox, spaces: bool) -> None:
    alone = "assert __import__('os').getpid() >= 1000" if spaces else "pass"

    def work(number: int) -> bool:
        code = f"def f(): {alone}\nNUMBER = {number}"
        tests = f"import solution\n\n\ndef test_f():\n    assert solution.NUMBER == {number}\n"
        return box.run_tests(code, tests).passed

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(24))) == [True] * 24


@pytest.mark.slow
def test_memory_and_descriptors_do_not_grow(box: WarmSandbox) -> None:
    assert_ordinary(box)

    def measure() -> tuple[int, int, int]:
        living = box._zygotes.get(box._mounts)._process  # replaced after some thousands of runs
        assert living is not None
        zygote = max(children_of(living._process.pid))
        pages = int(Path(f"/proc/{zygote}/statm").read_text().split()[1])
        return len(os.listdir("/proc/self/fd")), pages * 4096, descriptors(zygote)

    def go(count: int) -> None:
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda _: assert_ordinary(box), range(count)))

    go(20)
    assert list_settled_runs() == []
    gc.collect()
    before, own = measure(), resident()
    go(RUNS)
    assert list_settled_runs() == []
    until = time.monotonic() + 10
    while (after := measure())[2] > before[2] and time.monotonic() < until:
        time.sleep(0.01)  # it may not have noticed the end of the last runs
    assert after[0] <= before[0]  # fewer if garbage of an earlier test was collected
    assert after[2] <= before[2]
    assert after[1] - before[1] < 2 << 20
    assert resident() - own < 8 << 20


RUNS = int(os.environ.get("HOSTILE_SOAK", "40"))


def descriptors(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:  # not permitted with bubblewrap
        return -1


def children_of(pid: int) -> list[int]:
    """Return the process and its descendants; the last is the zygote."""
    found = [pid]
    for each in found:
        found += map(int, Path(f"/proc/{each}/task/{each}/children").read_text().split())
    return found
