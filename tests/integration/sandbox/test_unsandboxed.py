"""The process without a sandbox: its environment, its time limit, its cleanup."""

import asyncio
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from greenloop.records import Expectation, TestRun
from greenloop.sandbox.backends import unsandboxed
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.guest.limits.rlimits import SINGLE_THREAD_VARIABLES
from greenloop.sandbox.limits import ResourceLimits
from greenloop.testsuite import TestFile
from greenloop.threads import complete_in_thread
from tests.integration.sandbox.conftest import LIMITS

PASS = "from solution import f\n\n\ndef test_a():\n    f()\n"
FOREVER = "import time\ndef f(): time.sleep(60)"
NAMES = {"PATH", "HOME", "TMPDIR", "LANG", "TZ", "USER", "LOGNAME", *SINGLE_THREAD_VARIABLES}


@pytest.fixture(scope="module")
def box() -> Iterator[ProcessSandbox]:
    """Return the sandbox `none`."""
    with ProcessSandbox(LIMITS) as opened:
        yield opened


@pytest.fixture
def own_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_nothing_of_the_host_affects_the_run(
    box: ProcessSandbox, own_temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No variable, plugin, option, conftest or configuration of a parent folder."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-fake-0123")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    monkeypatch.setenv("PYTHONPATH", str(own_temporary))
    (own_temporary / "conftest.py").write_text("raise RuntimeError('parent')")
    (own_temporary / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option")
    code = (
        "import os, sys\n"
        "def f():\n"
        "    print(os.environ, open('/proc/self/environ').read(), sys.path, sys.argv)\n"
        "    names = {n for n in os.environ if not n.startswith(('PYT', 'LC_'))}\n"
        "    plugins = {n for n in sys.modules if 'xdist' in n or 'langsmith' in n}\n"
        f"    assert (names, plugins) == ({NAMES!r}, set())\n"
        "    raise KeyError('shown')\n"
    )
    run = box.run_tests(code, PASS)
    assert [item.exception for item in run.failures] == ["KeyError"], str(run)
    assert "sk-fake" not in run.model_dump_json()
    assert "PATH" in run.failures[0].output + run.output


def test_job_file_is_removed_before_untrusted_code_runs(box: ProcessSandbox) -> None:
    code = "import os\nassert 'job.json' not in os.listdir('..'), os.listdir('..')\ndef f(): pass"
    assert box.run_tests(code, PASS).passed


def test_unusual_correct_programs_pass(box: ProcessSandbox, own_temporary: Path) -> None:
    """A remaining thread and child, folders without permissions, output: one run for all."""
    code = (
        "import os, subprocess, sys, threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "left = subprocess.Popen(['sleep', '60'])\n"
        "away = subprocess.Popen(['sleep', '61'], start_new_session=True)\n"
        "def f():\n"
        "    os.makedirs('a/b')\n"
        "    open('a/b/c', 'w').close()\n"
        "    os.chmod('a/b', 0)\n"
        "    os.chmod('a', 0)\n"
        "    os.chmod('.', 0)\n"
        "    os.write(1, b'\\xff\\x00')\n"
        "    sys.__stdout__.write('\\u2603')\n"
        "    sys.setrecursionlimit(50)\n"
    )
    started = time.monotonic()
    run = box.run_tests(code, PASS)
    assert run.passed, str(run)
    assert time.monotonic() - started < 15
    assert list(own_temporary.iterdir()) == []


def test_processes_that_left_the_group_are_killed(box: ProcessSandbox, own_temporary: Path) -> None:
    mark = own_temporary / "number"
    code = (
        "import os, subprocess\n"
        "child = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        f"open({str(mark)!r}, 'w').write(str(child.pid))\n"
        "def f(): pass\n"
    )
    assert box.run_tests(code, PASS).passed
    stat = Path(f"/proc/{mark.read_text()}/stat")
    state = stat.read_text().rpartition(")")[2].split()[0] if stat.exists() else "gone"
    assert state in ("gone", "Z", "X")
    assert list(own_temporary.iterdir()) == [mark]


@pytest.mark.parametrize(
    ("code", "where"),
    [
        (FOREVER, "during test_solution.py::test_a"),
        ("while True: pass", "still running after 2 s"),
        (
            "import os, signal, time\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
            "for _ in range(3): os.fork()\n"
            "def f(): time.sleep(60)\n",
            "still running",
        ),
    ],
)
def test_time_limit_ends_a_run(code: str, where: str) -> None:
    started = time.monotonic()
    run = ProcessSandbox(ResourceLimits(timeout_s=2)).run_tests(code, PASS)
    assert run.ending == "timeout"
    assert where in run.detail
    assert time.monotonic() - started < 20


def test_expected_tests_must_report(box: ProcessSandbox) -> None:
    name = "test_solution.py::test_"
    tests = PASS + "\n\ndef test_b():\n    import pytest\n    pytest.skip('x')\n"

    def run(ids: str) -> TestRun:
        expected = Expectation(
            ids=frozenset(name + item for item in ids), tolerated=frozenset({name + "b"})
        )
        return box.run_tests("def f(): pass", tests, expected=expected)

    with ThreadPoolExecutor(3) as pool:
        runs = dict(zip(("ab", "a", "abc"), pool.map(run, ("ab", "a", "abc")), strict=True))
    assert runs["ab"].passed
    assert (runs["a"].passed, runs["a"].unexpected) == (False, (name + "b",))
    assert (runs["abc"].passed, runs["abc"].missing) == (False, (name + "c",))


def test_interrupt_ends_only_current_runs(box: ProcessSandbox) -> None:
    with ThreadPoolExecutor(2) as pool:
        started = time.monotonic()
        running = [pool.submit(box.run_tests, FOREVER, PASS) for _ in range(2)]
        time.sleep(0.3)
        box.interrupt()
        assert [item.result().ending for item in running] == ["interrupted"] * 2
    assert time.monotonic() - started < 20
    assert box.run_tests("def f(): pass", PASS).passed


@pytest.mark.slow
def test_cancelling_ends_work_that_goes_on_to_other_runs(box: ProcessSandbox) -> None:
    endings: list[str] = []
    has_ended = threading.Event()

    def work() -> None:
        try:
            endings.extend(box.run_tests(FOREVER, PASS).ending for _ in range(40))
        finally:
            has_ended.set()

    async def cancel() -> None:
        task = asyncio.ensure_future(complete_in_thread(work, box.interrupt_runs))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert has_ended.wait(60)  # a busy machine may take longer than cancelling waits for the thread
    assert {*endings} == {"interrupted"}
    assert box.run_tests("def f(): pass", PASS).passed


def test_interrupt_ends_a_run_that_is_being_prepared(
    box: ProcessSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interrupt comes after the call and before the process is started."""
    original = unsandboxed.build_payload

    def ask_server(*values: Any) -> dict[str, Any]:
        box.interrupt()
        return original(*values)

    monkeypatch.setattr(unsandboxed, "build_payload", ask_server)
    assert box.run_tests(FOREVER, PASS).ending == "interrupted"


def test_close_ends_current_runs() -> None:
    with ProcessSandbox() as box, ThreadPoolExecutor(1) as pool:
        running = pool.submit(box.run_tests, FOREVER, PASS)
        threading.Timer(0.3, box.close).start()
        assert running.result(timeout=10).ending == "interrupted"


def test_file_that_the_code_rewrites_is_an_error(box: ProcessSandbox) -> None:
    code = (
        "from pathlib import Path\nplace = Path('test_b.py')\n"
        "place.write_text(place.read_text().replace('== 2', '== 1'))\ndef f(): return 1\n"
    )
    tests = [
        TestFile("test_a.py", PASS),
        TestFile("test_b.py", "from solution import f\ndef test_b():\n    assert f() == 2\n"),
    ]
    run = box.run_tests(code, tests)
    assert (run.passed, run.failing_tests) == (False, {"test_b.py"})


@pytest.mark.slow
def test_parallel_runs_are_independent(box: ProcessSandbox) -> None:
    def run(number: int) -> bool:
        tests = f"from solution import f\ndef test_a():\n    assert f() == {number}\n"
        code = f"open('seen', 'x').close()\ndef f(): return {number}"
        return box.run_tests(code, tests).passed

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(6))) == [True] * 6


@pytest.mark.parametrize("name", ["../test_x.py", "/tmp/test_x.py", "a/b.py", "", ".", "..", "a\0"])
def test_only_plain_file_names_are_accepted(
    box: ProcessSandbox, own_temporary: Path, name: str
) -> None:
    with pytest.raises(ValueError):
        box.run_tests("x = 1", [TestFile(name, "def test_a(): pass")], module="solution")
    assert list(own_temporary.iterdir()) == []


@pytest.mark.parametrize(
    "files",
    [
        [],
        [TestFile("solution.py", "def test_a(): pass")],
        [TestFile("test_a.py", ""), TestFile("test_a.py", "")],
    ],
)
def test_duplicate_file_names_are_refused(box: ProcessSandbox, files: list[TestFile]) -> None:
    with pytest.raises(ValueError, match=r"two files|no test file"):
        box.run_tests("x = 1", files, module="solution")


def test_hash_seed_is_used(box: ProcessSandbox) -> None:
    code = "import sys\ndef f():\n    raise LookupError(hash('a'))"
    with ThreadPoolExecutor(3) as pool:
        runs = pool.map(lambda seed: box.run_tests(code, PASS, hash_seed=seed), (0, 0, 7))
        seen = [run.failures[0].message for run in runs]
    assert seen[0] == seen[1] != seen[2]
