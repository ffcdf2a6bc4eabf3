"""A run that reaches its time limit names the running test or file, and the lines."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from greenloop.records import TestRun
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.result_decoder import parse_frames
from tests.integration.sandbox.conftest import LIMITS

_TEST = "from solution import f\n\n\ndef test_before(): pass\n\n\ndef test_a():\n    f()\n"
_NAME = "test_solution.py::test_a"
TIME_S = 5.0
_FOREVER = "import time\ndef f():\n    time.sleep(60)"
# Code, tests, hash seed (0: warm), the test that is named and its phase, the last line.
CASES: dict[str, tuple[str, str, int, str, str, list[str]]] = {
    "in the code": (_FOREVER, _TEST, 0, _NAME, "call", ["f()", "time.sleep(60)"]),
    "cold": (_FOREVER, _TEST, 7, _NAME, "call", ["f()", "time.sleep(60)"]),
    "in C code that takes no signals": (
        "import re\ndef f(): re.match('(a*)*b', 'a' * 60)",
        _TEST,
        0,
        _NAME,
        "call",
        ["f()", "def f(): re.match('(a*)*b', 'a' * 60)"],
    ),
    "waiting for a thread": (
        "import threading, time\n"
        "def f():\n"
        "    t = threading.Thread(target=time.sleep, args=(60,), daemon=True)\n"
        "    t.start()\n"
        "    t.join()",
        _TEST,
        0,
        _NAME,
        "call",
        ["f()", "t.join()"],
    ),
    "at import": (
        "import time\ntime.sleep(60)\ndef f(): pass",
        _TEST,
        0,
        "test_solution.py",
        "collect",
        ["from solution import f", "time.sleep(60)"],
    ),
    "after a signal of its own": (
        "import signal, time\n"
        "def f():\n"
        "    signal.signal(signal.SIGALRM, lambda *_: None)\n"
        "    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)\n"
        "    time.sleep(60)",
        _TEST,
        0,
        _NAME,
        "call",
        ["f()", "time.sleep(60)"],
    ),
    "with the signal taken away": (
        "import signal, time\ndef f():\n"
        "    signal.signal(signal.SIGURG, signal.SIG_IGN)\n    time.sleep(60)",
        _TEST,
        0,
        _NAME,
        "call",
        [],
    ),
}


@pytest.fixture(scope="module")
def runs(box: Sandbox) -> dict[str, TestRun]:
    """Run all cases, in parallel: they mostly wait. The limit suits a busy machine."""
    assert isinstance(box, Sandbox)
    box.limits = replace(LIMITS, timeout_s=TIME_S)
    try:
        with ThreadPoolExecutor(len(CASES)) as pool:
            found = pool.map(lambda c: box.run_tests(c[0], c[1], hash_seed=c[2]), CASES.values())
            return dict(zip(CASES, found, strict=True))
    finally:
        box.limits = LIMITS


@pytest.mark.parametrize("name", CASES)
def test_hung_test_is_a_failure_with_its_place(runs: dict[str, TestRun], name: str) -> None:
    *_, test, phase, lines = CASES[name]
    run = runs[name]
    assert (run.ending, run.limits_hit, run.passed) == ("timeout", ("wall time",), False), run
    (failure,) = run.failures
    assert (failure.test, failure.phase) == (test, phase)
    assert (failure.exception, failure.message) == ("Timeout", f"still running after {TIME_S:g} s")
    assert [item.text for item in failure.frames] == lines
    assert run.detail == f"still running after {TIME_S:g} s during {test}"


def test_alarms_of_a_test_are_not_disturbed(box: Sandbox) -> None:
    """No timer of the guest is active before or during a test."""
    code = (
        "import signal, time\n"
        "def f():\n"
        "    seen = []\n"
        "    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)\n"
        "    assert signal.signal(signal.SIGALRM, lambda *_: seen.append(1)) is signal.SIG_DFL\n"
        "    signal.setitimer(signal.ITIMER_REAL, 0.01)\n"
        "    time.sleep(0.2)\n"
        "    assert (seen, signal.alarm(0)) == ([1], 0)\n"
    )
    run = box.run_tests(code, _TEST)
    assert run.passed, str(run)


def test_stack_dump_is_parsed_as_far_as_it_is_valid() -> None:
    dump = (
        "Current thread 0x1 (most recent call first):\n"
        '  File "/tmp/work/solution.py", line 2 in g\n'
        '  File "/tmp/work/solution.py", line 99999999999999999999 in f\n'
        '  File "/usr/lib/work/other.py", line 1 in h\n'
        '  File "/tmp/work/test_solution.py", line 1 in test_a\n'
        "\ud800 nonsense\n"
    )
    files = {"solution.py": "a\n  '\ud800'", "test_solution.py": "f()"}
    found = [(item.file, item.line, item.text) for item in parse_frames(dump, files)]
    assert found[0] == ("test_solution.py", 1, "f()")
    assert found[-1] == ("solution.py", 2, "'\\ud800'")
    assert len(found) == 3
    deep = dump.split("\n")[1] + "\n"
    assert len(parse_frames(deep * 100, files)) == 15
