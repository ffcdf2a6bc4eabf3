"""Programs that end, crash or forge their run: none passes, and all end."""

import sys

import pytest

from greenloop.records import TestRun
from tests.integration.sandbox.conftest import RunAll
from tests.support.programs import read_program

CALLS = "from solution import f\n\n\ndef test_first():\n    pass\n\n\ndef test_calls():\n    f()\n"
# Writes to every descriptor that may be the result channel, with knowledge of the protocol.
_FORGE = read_program(__file__, "_FORGE")


def forging(*events: str) -> str:
    return f"{_FORGE}\ndef f():\n    send({', '.join(events)})\n    assert False\n"


_PASSED = "{'event': 'test', 'id': IDS[1], 'outcome': 'passed', 'duration_s': 0}"
_END = "{'event': 'end', 'exit_status': 0}"
PROGRAMS = {
    "os._exit at import": "import os\nos._exit(0)",
    "os._exit in a test": "import os\ndef f(): os._exit(0)",
    "forged pass and os._exit": forging(_PASSED, _END).replace("assert False", "os._exit(0)"),
    "os._exit at the end": (
        "import os, pytest\n"
        "def f(): pass\n"
        "from _pytest import main\n"
        "main.Session.exitstatus = property(lambda s: os._exit(0), lambda s, v: None)\n"
    ),
    "sys.exit at import": "import sys\nsys.exit(0)",
    "pytest.exit at import": "import pytest\npytest.exit('bye', returncode=0)",
    "pytest.exit in a test": "import pytest\ndef f(): pytest.exit('bye', returncode=0)",
    "KeyboardInterrupt": "def f(): raise KeyboardInterrupt",
    "SIGKILL": "import os, signal\ndef f(): os.kill(os.getpid(), signal.SIGKILL)",
    "SIGSEGV": "import ctypes\ndef f(): ctypes.string_at(0)",
    "SIGKILL for the group": "import os\ndef f(): os.killpg(0, 9)",
    "result flood": (
        f'{_FORGE}\ndef f():\n    while True: send(\'{{"event": "started", "id": "x"}}\' * 99)'
    ),
    "output flood": "def f():\n    import os\n    while True: os.write(1, b'x' * 65536)",
    "forged pass": forging(_PASSED),
    "forged pass and end": forging(_PASSED, _END),
    "syntax error": "def f(:\n",
    "no such import": "import no_such_module_here\ndef f(): pass",
    "wrong encoding": "def f(): return '\udcff'",
    "NUL": "def f(): return 'a\0b'",
    "no such name": "x = 1",
}


@pytest.fixture(scope="module")
def runs(run_all: RunAll) -> dict[str, TestRun]:
    return run_all({name: (code, CALLS) for name, code in PROGRAMS.items()})


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_hostile_program_passes(runs: dict[str, TestRun], name: str) -> None:
    assert not runs[name].passed
    assert runs[name].duration_s < 15
    runs[name].model_dump_json()  # what it sent can be written into a report


ENDINGS = {
    "os._exit at import": "crashed",
    "os._exit in a test": "crashed",
    "SIGKILL": "crashed",
    "SIGSEGV": "crashed",
    "SIGKILL for the group": "crashed",
    "result flood": "output",
    "output flood": "output",
    "forged pass": "garbled",
    "forged pass and end": "garbled",
    "forged pass and os._exit": "garbled",
    "sys.exit at import": "finished",
    "pytest.exit in a test": "finished",
    "KeyboardInterrupt": "finished",
}


@pytest.mark.parametrize("name", ENDINGS)
def test_ending_is_classified(runs: dict[str, TestRun], name: str) -> None:
    assert runs[name].ending == ENDINGS[name], runs[name]


@pytest.mark.parametrize("name", ["os._exit in a test", "SIGKILL", "SIGSEGV"])
def test_running_test_is_named(runs: dict[str, TestRun], name: str) -> None:
    assert "test_solution.py::test_calls" in runs[name].detail


@pytest.mark.parametrize("name", ["result flood", "output flood"])
def test_excessive_output_is_truncated(runs: dict[str, TestRun], name: str) -> None:
    assert len(runs[name].output) < 70_000
    assert runs[name].duration_s < 10


BROKEN_OFF = {
    "sys.exit at import": ("test_solution.py", "collect", "SystemExit", 2),
    "pytest.exit at import": ("test_solution.py", "collect", "Exit", 2),
    "pytest.exit in a test": ("test_solution.py::test_calls", "call", "Exit", 2),
    "KeyboardInterrupt": ("test_solution.py::test_calls", "call", "KeyboardInterrupt", 1),
}


@pytest.mark.parametrize("name", BROKEN_OFF)
def test_aborted_run_names_its_cause(runs: dict[str, TestRun], name: str) -> None:
    """Otherwise a repair would have no failure to start from."""
    (failure,) = runs[name].failures
    test, phase, exception, line = BROKEN_OFF[name]
    assert (failure.test, failure.phase, failure.exception) == (test, phase, exception)
    assert (failure.frames[-1].file, failure.frames[-1].line) == (
        "solution.py",
        line if phase == "collect" else 2 if exception == "Exit" else 1,
    )


COLLECTION = {
    "syntax error": ("SyntaxError", "solution.py"),
    "no such import": ("ModuleNotFoundError", "solution.py"),
    "wrong encoding": ("SyntaxError", "solution.py"),
    "NUL": ("SyntaxError" if sys.version_info >= (3, 11, 4) else "ValueError", None),
    "no such name": ("ImportError", "test_solution.py"),
}


@pytest.mark.parametrize("name", COLLECTION)
def test_collection_error_is_reported_with_its_cause(runs: dict[str, TestRun], name: str) -> None:
    run = runs[name]
    exception, file = COLLECTION[name]
    (failure,) = run.failures
    assert (failure.test, failure.phase) == ("test_solution.py", "collect")
    assert failure.exception == exception
    assert file is None or failure.frames[-1].file == file
    assert run.error_count == 1
