"""What the code under test can see and reach when it is split from its tests."""

from __future__ import annotations

import pytest

from greenloop.records import TestRun
from greenloop.sandbox.warm import WarmSandbox

LOOKING = '''
import gc, os, sys

MARK = "zebra" + "crossing"


def memory():
    """Whether the tests' text is anywhere in this process."""
    needle, found = MARK.encode(), 0
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as mem:
        for line in maps:
            span, rights = line.split()[:2]
            if "r" in rights and not line.rstrip().endswith(("[vvar]", "[vsyscall]", "[vdso]")):
                low, high = (int(part, 16) for part in span.split("-"))
                try:
                    mem.seek(low)
                    data = mem.read(high - low)
                except (OSError, ValueError, OverflowError):
                    continue
                found += data.count(needle) - data.count(needle + b"!")
    return found


def files():
    found = []
    for top in ("/tmp", "/dev/shm", "/opt", "/proc"):
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                if top == "/proc" and not name.startswith(("cmdline", "environ")):
                    continue
                try:
                    with open(path, "rb") as file:
                        if MARK.encode() in file.read(1 << 20):
                            found.append(path)
                except OSError:
                    pass
    return found


def processes():
    return sorted(int(name) for name in os.listdir("/proc") if name.isdecimal())


def own():
    return os.getpid()


def reachable():
    found = []
    for pid in range(3, 300):
        try:
            os.kill(pid, 0)
            found.append(pid)
        except OSError:
            pass
    return [pid for pid in found if pid != os.getpid()]


def descriptors():
    """What is open beside the standard streams, the wire and the listing itself."""
    return sorted(os.readlink(f"/proc/self/fd/{n}").split(":")[0] for n in range(3, 60)
                  if os.path.lexists(f"/proc/self/fd/{n}"))


def names():
    return sorted(os.listdir("/tmp/work"))


def loses():
    try:
        os.rename("/tmp/work", "/tmp/elsewhere")
    except OSError as error:
        return error.strerror
'''
SEEING = """
import os
import solution

SECRET = "zebracrossing"


def test_files():
    assert solution.files() == []


def test_names():
    assert solution.names() == ["solution.py"]
    assert solution.loses() == "Device or resource busy"


def test_memory():
    assert solution.memory() == 0


def test_processes():
    assert solution.processes() == [1, 2]
    assert solution.own() == 2
    assert solution.reachable() == []


def test_descriptors():
    assert solution.descriptors() == ["pipe", "pipe"]


def test_shared(tmp_path):
    (tmp_path / "x").write_text("zebracrossing")
    assert solution.files() == [str(tmp_path / "x")]
"""
BEHIND = """
def look(thing, path):
    try:
        for name in path.split("."):
            thing = getattr(thing, name)
        return "found"
    except AttributeError:
        return "hidden"


def turn(mock):
    tried = []
    for name in ("assert_called_once_with", "_mock_children", "__class__", "call_args"):
        try:
            setattr(mock, name, lambda *_, **__: None)
            tried.append(name)
        except Exception:
            pass
    return tried


class Everything:
    def __eq__(self, other): return True
    def __rsub__(self, other): return 0.0
    def __sub__(self, other): return 0.0
    def __lt__(self, other): return True
    __gt__ = __le__ = __ge__ = __lt__
    def __abs__(self): return 0.0


class Money:
    def __eq__(self, other): return True


def everything(): return Everything()
def money(): return Money()
def shown(): return "__import__('os')._exit(0)"
"""
BEHIND_TESTS = """
import io
from unittest.mock import MagicMock

import pytest
from solution import Money, everything, look, money, shown, turn


class Fake:
    def method(self): return 1


def function(): return 1


def generate(): yield 1


PATHS = ("__globals__ __code__ __class__ __self__ __func__ __dict__ __init__ __reduce__ __module__ "
         "gi_frame gi_code f_back __call__.__globals__ _mock_parent mro __subclasses__").split()


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("thing", [function, Fake(), Fake().method, Fake, generate(), io.StringIO(), MagicMock(),
                                   ValueError("x"), [].append, lambda: 1], ids=str)
def test_hidden(thing, path):
    assert look(thing, path) in ("hidden", "own")


def test_mocks_keep_their_assertions():
    mock = MagicMock()
    assert turn(mock) == []
    with pytest.raises(AssertionError):
        mock.assert_called_once_with(3)


def test_equal_to_nothing():
    assert everything() != 5
    assert everything() != [1]
    assert not everything() == "x"
    assert everything() != pytest.approx(5.0)
    with pytest.raises(TypeError):
        5.0 - everything()
    with pytest.raises(TypeError):
        everything() < 3


def test_own_equality():
    assert Money() == 5
    assert money() == "x"


def test_not_evaluated():
    with pytest.raises(BaseException, match="evaluates text"):
        eval(shown())
"""


def split(box: WarmSandbox, code: str, tests: str) -> TestRun:
    return box.run_tests(code, tests, module="solution", form="split")


def test_the_tests_are_nowhere_to_be_seen(box: WarmSandbox) -> None:
    run = split(box, LOOKING, SEEING)
    assert run.passed, run


def test_what_is_handed_over_can_be_used_but_not_looked_behind(box: WarmSandbox) -> None:
    run = split(box, BEHIND, BEHIND_TESTS)
    assert run.passed, run
    assert run.own_equality == ("test_solution.py::test_own_equality",)


def test_a_dead_process_fails_the_test_and_all_after_it(box: WarmSandbox) -> None:
    code = "import os\ndef f(): os._exit(0)\ndef g(): return 1\n"
    tests = "from solution import f, g\ndef test_f():\n    f()\ndef test_g():\n    assert g() == 1\n"
    run = split(box, code, tests)
    assert set(run.outcomes.values()) == {"failed"}
    assert "the code under test ended its process (exit status 0)" in run.failures[0].message


def test_a_test_that_swallows_it_makes_no_green(box: WarmSandbox) -> None:
    code = "import os\ndef f(): os._exit(0)\n"
    tests = "from solution import f\ndef test_f():\n    try: f()\n    except BaseException: pass\n"
    run = split(box, code, tests)
    assert not run.passed
    assert run.outcomes == {"test_solution.py::test_f": "passed"}


def test_what_hangs_runs_into_the_time_limit(box: WarmSandbox, limited: object) -> None:
    with limited(timeout_s=1):  # type: ignore[operator]
        run = split(box, "def f():\n    while True: pass\n", "from solution import f\ndef test_f(): f()\n")
    assert run.ending == "timeout"


@pytest.mark.parametrize("answer", ["[0] * 10**7", "'x' * 10**8", "deep()", "iter(int, 1)"])
def test_large_answers_are_no_trouble(box: WarmSandbox, answer: str) -> None:
    deep = "def deep():\n    x = ()\n    for _ in range(100000): x = (x,)\n    return x\n"
    code = f"{deep}def f(): return {answer}\n"
    run = split(box, code, "from solution import f\ndef test_f(): assert f() == 1\n")
    assert not run.passed
    assert run.ending in ("finished", "memory"), run
