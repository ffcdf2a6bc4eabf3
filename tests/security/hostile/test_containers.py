"""Pid 1 of a container: replaced when it dies or is old; nothing of a run remains in it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from greenloop.sandbox.backends.container import backend, container
from greenloop.sandbox.backends.container.backend import ContainerSandbox
from tests.security.hostile.conftest import LIMITS, PRELUDE, answer_calls, assert_ordinary
from tests.security.hostile.host_monitor import (
    in_runs,
    list_settled_runs,
    parent,
    resident,
    wait_for_name,
)
from tests.security.hostile.test_secrets import CODE as SEARCHING
from tests.security.hostile.test_zygote import (
    BRIEF,
    STAYS,
    TESTS,
    assert_gone,
    descriptors,
    going_on,
)
from tests.support.container_image import IMAGE
from tests.support.programs import read_program, read_programs

pytestmark = pytest.mark.parametrize("box", ["container"], indirect=True, scope="session")


@pytest.fixture(scope="module")
def one_by_one(box: ContainerSandbox) -> Iterator[ContainerSandbox]:
    with ContainerSandbox(box._engine, LIMITS) as opened:
        opened._max_containers = 1
        yield opened


@pytest.fixture
def single(one_by_one: ContainerSandbox) -> ContainerSandbox:
    """A sandbox with one container, so that each run follows the previous one in it."""
    one_by_one.limits = LIMITS
    assert_ordinary(one_by_one)
    return one_by_one


def names(box: ContainerSandbox) -> set[str]:
    """Return the names of all containers of this process that the engine knows."""
    command = box._engine.command("ps", "--all", "--format", "{{.Names}}")
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return {name for name in output if name.startswith(f"greenloop-{os.getpid()}-")}


def assert_unlisted(name: str, box: ContainerSandbox) -> None:
    """Wait until the container is removed: docker removes asynchronously."""
    until = time.monotonic() + 30
    while name in names(box) and time.monotonic() < until:
        time.sleep(0.1)
    assert name not in names(box)


def test_killed_container_is_replaced(box: ContainerSandbox) -> None:
    with going_on(box, BRIEF, "brief") as (future, pid):
        os.kill(parent(pid), signal.SIGKILL)
        assert future.result().passed  # retried: the run did not cause it
    assert_ordinary(box)


def test_killed_engine_process_ends_the_container(
    single: ContainerSandbox,
) -> None:
    (living,) = single._idle
    with going_on(single, BRIEF, "brief") as (future, pid):
        living._process.kill()
        assert future.result().passed
        assert_gone(pid)


def test_run_that_kills_its_container_is_a_crash(single: ContainerSandbox) -> None:
    with going_on(single, STAYS, "staying") as (future, pid):
        os.kill(parent(pid), signal.SIGKILL)
        assert_gone(pid)
        os.kill(parent(wait_for_name("staying")), signal.SIGKILL)
        assert future.result(20).ending == "crashed"


def test_old_container_is_replaced(
    single: ContainerSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    (old,) = single._idle
    monkeypatch.setattr(backend, "_MAX_RUNS", old.runs + 1)
    assert_ordinary(single)
    assert single._idle == []
    assert_ordinary(single)
    assert_unlisted(old._name, single)


def test_other_limits_need_another_container(single: ContainerSandbox) -> None:
    (old,) = single._idle
    single.limits = replace(LIMITS, disk_bytes=1 << 20)
    big = "def f(): open('/tmp/x', 'wb').write(bytes(2 << 20))"
    run = single.run_tests(big, TESTS)
    assert [item.exception for item in run.failures] == ["OSError"]
    assert_unlisted(old._name, single)


def test_interrupt_ends_all_runs(box: ContainerSandbox) -> None:
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(box.run_tests, STAYS, TESTS) for _ in range(4)]
        wait_for_name("staying")
        box.interrupt()  # some of the four may still wait
        assert {run.result(30).ending for run in runs} == {"interrupted"}
    assert list_settled_runs() == []


def test_closing_ends_all_containers(box: ContainerSandbox) -> None:
    before = names(box)
    with ContainerSandbox(box._engine, LIMITS) as opened:
        assert_ordinary(opened)
        (name,) = names(box) - before
    assert_unlisted(name, box)


_CALLER = read_program(__file__, "_CALLER")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "SIGKILL"])
def test_containers_end_with_the_host_process(box: ContainerSandbox, number: int) -> None:
    code = _CALLER.format(engine=box._engine.name, image=IMAGE, code=STAYS, tests=TESTS)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == "open\n"
        pid = wait_for_name("staying")
        below = [pid, parent(pid), parent(parent(pid))]
        caller.send_signal(number)
        output, _ = caller.communicate(timeout=60)
    assert ("interrupted" in output) == (number == signal.SIGINT)
    assert_gone(*below)


def test_parallel_runs_are_queued(box: ContainerSandbox) -> None:
    def work(number: int) -> bool:
        tests = f"import solution\n\n\ndef test_f():\n    assert solution.NUMBER == {number}\n"
        return box.run_tests(f"NUMBER = {number}", tests).passed

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(24))) == [True] * 24
    assert box._container_count == len(box._idle) <= box._max_containers


_TREES = read_programs(__file__, "_TREES")


@pytest.mark.parametrize("kind", _TREES)
def test_files_of_a_run_are_removed(single: ContainerSandbox, kind: str) -> None:
    (living,) = single._idle
    single.run_tests(PRELUDE + _TREES[kind], TESTS)
    found = answer_calls(single, "", ["sorted(os.listdir('/tmp'))", "os.listdir('/dev/shm')"])
    assert list(found.values()) == [["home", "tmp", "work"], []]
    assert single._idle == [living]


def test_too_many_files_end_the_run(single: ContainerSandbox) -> None:
    code = "def f():\n    for n in range(100_000): open(f'/tmp/{n}', 'w').close()"
    run = single.run_tests(code, TESTS)
    assert run.ending == "disk" or "No space left" in str(run.failures), run
    assert "inodes" in run.limits_hit


_LEAK: dict[str, Callable[[str], str]] = {
    "its code": lambda text: f"TEXT = {text!r}\ndef f(): pass",
    "its output": lambda text: f"import os\ndef f(): [os.write(1, b'{text}' * 99) for _ in range(999)]",
    "its result": lambda text: f"def f(): raise ValueError('{text}' * 50)",
    "names of its files": lambda text: f"def f(): open('/tmp/{text}', 'w').close()",
    "where it was": lambda text: f"def f_{text}():\n    while True: pass\nf = f_{text}",
    "memory": lambda text: f"def f():\n    global kept\n    kept = [bytearray(b'{text}') for _ in range(9999)]",
}


@pytest.mark.parametrize("where", _LEAK)
def test_memory_of_the_next_run_is_clean(single: ContainerSandbox, where: str) -> None:
    """Each run is a fork of pid 1 and would inherit what that has kept of an earlier run."""
    (living,) = single._idle
    secret = os.urandom(12).hex()
    single.limits = replace(LIMITS, timeout_s=1 if where == "where it was" else LIMITS.timeout_s)
    run = single.run_tests(_LEAK[where](secret), TESTS)
    assert (run.ending == "timeout") == (where == "where it was")
    first, second = (repr(part.encode().hex()) for part in (secret[:12], secret[12:]))
    code = SEARCHING.replace("FIRST_HEX", first).replace("SECOND_HEX", second)
    assert answer_calls(single, code, ["own_memory()"]) == {"own_memory()": 0}
    assert single._idle == [living]


def test_memory_and_descriptors_do_not_grow(single: ContainerSandbox) -> None:
    def measure() -> tuple[int, int, int]:
        with going_on(single, BRIEF, "brief") as (future, pid):
            first = parent(pid)
            pages = int(Path(f"/proc/{first}/statm").read_text().split()[1])
            found = len(os.listdir("/proc/self/fd")), pages * 4096, descriptors(first)
            assert future.result().passed
        return found

    before, own = measure(), resident()
    for _ in range(RUNS):
        assert_ordinary(single)
    after = measure()
    assert after[0] <= before[0]
    assert after[1] - before[1] < 2 << 20
    assert after[2] <= before[2]
    assert resident() - own < 8 << 20


RUNS = int(os.environ.get("HOSTILE_SOAK", "40"))


def test_environment_of_the_engine_is_hidden(
    box: ContainerSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engines pass proxies on, with their passwords."""
    monkeypatch.setenv("HTTP_PROXY", "http://me:secret@proxy:3128")
    monkeypatch.setenv("http_proxy", "http://me:secret@proxy:3128")
    with ContainerSandbox(box._engine, LIMITS) as opened:
        calls = ["sorted(os.environ)", "read('/proc/self/environ').decode()"]
        seen: dict[str, Any] = answer_calls(opened, "", calls)
    assert not [text for text in seen.values() if "proxy" in str(text).lower()]
    assert not in_runs()


def test_stopped_container_is_removed(
    single: ContainerSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stopped pid 1 does not notice that the host is gone."""
    monkeypatch.setattr(container, "_EXIT_SECONDS", 0.5)
    (living,) = single._idle
    with going_on(single, STAYS, "staying") as (future, pid):
        first = parent(pid)
        os.kill(first, signal.SIGSTOP)
        single.interrupt()
        assert future.result(60).ending == "interrupted"
    assert_gone(pid, first)
    assert_unlisted(living._name, single)
