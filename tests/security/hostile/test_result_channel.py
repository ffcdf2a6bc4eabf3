"""Floods and forgeries of reports: truncated, counted and not trusted."""

import json

import pytest

from greenloop.records import Expectation
from greenloop.sandbox.base import Sandbox
from tests.security.hostile.conftest import PRELUDE, Attack
from tests.security.hostile.host_monitor import resident

FLOODS = {
    "output": "    while True: os.write(1, b'x' * 65536)",
    "errors": "    while True: os.write(2, b'x' * 65536)",
    "lines": "    while True: os.write(1, b'\\n' * 65536)",
    "result": "    while True: os.write(3, b'x' * 65536)",
    "result without a line's end": "    os.write(3, b'x' * 100)\n    while True: os.write(3, b'x' * 99)",
    "many writers": (
        "    first = os.getpid()\n"
        "    for _ in range(8): os.fork() if os.getpid() == first else None\n"
        "    while True: os.write(1, b'x' * 65536)"
    ),
    "a child's": (
        "    if not os.fork():\n        while True: os.write(1, b'x' * 65536)\n    time.sleep(60)"
    ),
    "by another program": "    subprocess.run(['/usr/bin/yes'], stdout=1)",
    "through the open file's name": (
        "    with open('/proc/self/fd/1', 'wb') as file:\n"
        "        while True: file.write(b'x' * 65536)"
    ),
}


BY_OTHERS = ("a child's", "many writers", "by another program")


@pytest.mark.parametrize("name", FLOODS)
def test_flood_ends_the_run(attack: Attack, spaces: bool, name: str) -> None:
    before = resident()
    run = attack(f"{PRELUDE}\ndef f():\n{FLOODS[name]}")
    if name in BY_OTHERS and not spaces:
        assert [item.exception for item in run.failures] == ["BlockingIOError"]
        return
    assert run.ending == "output", run
    assert len(run.output) < 70_000
    assert resident() - before < 32 << 20


def test_output_of_a_test_is_truncated(attack: Attack) -> None:
    """pytest captures it in the run's memory; only a little is reported."""
    run = attack("def f():\n    print('x' * 5_000_000)\n    assert False")
    assert run.ending in ("finished", "output")
    assert not run.passed
    assert all(len(item.output) < 5000 for item in run.failures)


_PASSED = {"event": "test", "id": "test_solution.py::test_f", "outcome": "passed", "duration_s": 0}
_END = {"event": "end", "exit_status": 0}
_LINES = "".join(json.dumps(item) + "\n" for item in (_PASSED, _END)).encode()
FORGERIES = {
    "lines without a key": f"    os.write(3, {_LINES!r})\n    os._exit(0)",
    "lines with a key of its own": (
        f"    os.write(3, b''.join(b'0123456789abcdef ' + x for x in {_LINES!r}.splitlines(True)))\n"
        "    os._exit(0)"
    ),
    "the end of a line": f"    os.write(3, b'x ' + {_LINES!r})\n    assert False",
    "no bytes but NULs": "    os.write(3, bytes(100))\n    os._exit(0)",
    "a closed channel": "    os.close(3)\n    assert False",
    "a channel that leads elsewhere": (
        "    os.dup2(os.open(TMP + '/mine', os.O_RDWR | os.O_CREAT), 3)\n    assert False"
    ),
    "another process": (
        f"    if not os.fork():\n        os.write(3, {_LINES!r})\n        os._exit(0)\n"
        "    os.wait()\n    assert False"
    ),
    "an orphan after the end": (
        "    if not os.fork():\n"
        "        parent = os.getppid()\n"
        "        while os.getppid() == parent: time.sleep(0.001)\n"
        f"        os.write(3, {_LINES!r})\n"
        "        os._exit(0)\n"
        "    assert False"
    ),
    "dropped reports of pytest": (
        "    import _pytest.reports\n"
        "    _pytest.reports.TestReport.__init__ = lambda *a, **k: os._exit(0)\n"
        "    assert False"
    ),
    "exit status 0": "    import atexit; sys.exit = os._exit; os._exit(0)",
    "deep JSON": "    os.write(3, b'[' * 60000 + b'\\n')\n    assert False",
    "a long number": "    os.write(3, b'1' * 60000 + b'\\n')\n    assert False",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgery_does_not_pass(box: Sandbox, name: str) -> None:
    run = box.run_tests(
        f"{PRELUDE}\ndef f():\n{FORGERIES[name]}",
        "from solution import f\n\n\ndef test_f():\n    f()\n",
        expected=Expectation(ids=frozenset(["test_solution.py::test_f"])),
    )
    assert not run.passed, run
    run.model_dump_json()


# The key is in the memory of the process, so untrusted code can find it.
_KEYED = """
import gc
def f():
    (channel,) = [o for o in gc.get_objects() if type(o).__name__ == "Channel"]
    channel.send(**EVENT)
"""


@pytest.mark.parametrize(
    "event",
    [
        "dict(event='started', id='x' * 500_000)",
        "dict(event='nothing', values=[[]] * 200_000)",
        "dict(event='failure', id='x', phase='call', exception='E', message='m', frames=[{}] * 9999)",
        "dict(event='collected', ids=['x'] * 100_000)",
        "dict(event='test', id='y', outcome='passed', duration_s=float('nan'))",
        "dict(event='test', id=['y'], outcome='passed', duration_s=1)",
        "dict(event='end', exit_status=0)",
    ],
    ids=lambda event: event[11:30].split("'")[0],
)
def test_invalid_events_with_the_key_are_rejected(box: Sandbox, event: str) -> None:
    before = resident()
    run = box.run_tests(
        _KEYED.replace("EVENT", event),
        "from solution import f\n\n\ndef test_f():\n    f()\n    assert False\n",
        expected=Expectation(ids=frozenset(["test_solution.py::test_f"])),
    )
    assert not run.passed
    run.model_dump_json()
    assert resident() - before < 64 << 20


def test_flood_of_answers_is_cut(box: Sandbox) -> None:
    answers = box.evaluate_calls("def f(): return [[]] * 200_000", "probes", ["f()", "1"])
    assert answers.events == ({"value": ["unknown", "too large"]}, {"value": 1})


@pytest.mark.parametrize(
    "code", ["import os\nos._exit(0)", "while True: print('x' * 9999)", "1 / 0"]
)
def test_module_without_answers_is_an_error(box: Sandbox, code: str) -> None:
    answers = box.evaluate_calls(code, "probes", ["1"])
    assert answers.events == (None,)
    assert answers.error


def test_control_characters_are_kept_as_text(attack: Attack) -> None:
    """Output escapes them when it is shown; the report's JSON has no raw control character."""
    run = attack("import os\ndef f():\n    os.write(1, b'\\x1b]0;mine\\x07\\x1b[2J\\xff')")
    assert run.passed
    assert "\x1b" in run.output
    assert "\x1b" not in run.model_dump_json()
