"""What the code under test can see and reach when it is split from its tests."""

from __future__ import annotations

import pytest

from greenloop.records import TestRun
from greenloop.sandbox.warm.backend import WarmSandbox

pytestmark = pytest.mark.parametrize(
    "box", ["bubblewrap", "native"], indirect=True, scope="session"
)

LOOKING = '''
import hashlib, os

MARK = "zebra" + "crossing"


def memory():
    """How often the tests' text is in this process: looked for by its digest, so as not to be it."""
    start, found = b"def test_" + b"d", 0
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as mem:
        for line in maps:
            span, rights = line.split()[:2]
            low, high = (int(part, 16) for part in span.split("-"))
            try:
                mem.seek(low)
                data = mem.read(high - low) if "r" in rights else b""
            except (OSError, ValueError, OverflowError):
                continue
            place = data.find(start)
            while place >= 0:
                found += hashlib.md5(data[place:place + 23]).hexdigest() == "0833c73f2557e54113dcb9fa7c2e5bfc"
                place = data.find(start, place + 1)
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


def test_memory_would_be_found():
    assert solution.memory.__doc__
    solution.held = "def test_" + "descriptors():"
    assert solution.memory() >= 1


def test_processes():
    assert solution.processes() == [1, 2]
    assert solution.own() == 2
    assert solution.reachable() == []


def test_descriptors():
    assert solution.descriptors() == ["/dev/null", "pipe", "pipe"]


def test_shared(tmp_path):
    (tmp_path / "x").write_text("zebracrossing")
    assert solution.files() == [str(tmp_path / "x")]
"""
BEHIND = """
import gc

found = []


def peer():
    # What speaks to the tests: a program that means it asks past all likenesses.
    if not found:
        found.extend(item for item in gc.get_objects() if type(item).__name__ == "Peer")
    return found[0]


def look(thing, name):
    said = []
    for arguments in (("get", thing, name), ("method", thing, name, (), {}),
                      ("special", thing, name, (), {}), ("inherited", thing, thing, name, (), {}),
                      ("names", thing), ("reload",), ("begin", (), False), ("get", 5, "real"), ("get", "x", "format")):
        try:
            said.append((*arguments, peer().ask(*arguments)))
        except Exception:
            pass
    return repr(said)


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


NAMES = ("__globals__ __code__ __class__ __self__ __func__ __dict__ __init__ __reduce__ __module__ "
         "gi_frame gi_code f_back _mock_parent __subclasses__ assert_called reset_mock").split()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("thing", [function, Fake(), Fake().method, Fake, generate(), io.StringIO(), MagicMock(),
                                   ValueError("x"), [].append, lambda: 1], ids=str)
def test_hidden(thing, name):
    assert look(thing, name) == "[]"


def test_what_is_meant_to_be_used_can_be_used():
    assert "method" in look(Fake(), "method")
    assert "getvalue" in look(io.StringIO("x"), "getvalue")


def test_mocks_keep_their_assertions():
    mock = MagicMock()
    assert turn(mock) == []
    with pytest.raises(AssertionError):
        mock.assert_called_once_with(3)


def test_approx():
    assert everything() != pytest.approx(5.0)
    assert everything() != None


def test_own_equality():
    assert Money() == 5
    assert money() == "x"


def test_not_evaluated():
    with pytest.raises(BaseException, match="evaluates text"):
        eval(shown())
"""


DECLINED_TESTS = """
import pytest
from solution import everything


def test_equal_to_nothing():
    assert everything() != 5
    assert everything() != [1]
    assert not everything() == "x"
    with pytest.raises(TypeError):
        5.0 - everything()
    with pytest.raises(TypeError):
        everything() < 3
"""


def split(box: WarmSandbox, code: str, tests: str) -> TestRun:
    return box.run_tests(code, tests, module="solution", form="split")


def test_the_tests_are_nowhere_to_be_seen(box: WarmSandbox) -> None:
    run = split(box, LOOKING, SEEING)
    assert run.passed, run


def test_nor_after_runs_that_had_them(box: WarmSandbox) -> None:
    """Neither what is kept of the tests for later runs nor a copy made beforehand has them."""
    for _ in range(2):
        beside = box.run_tests(LOOKING, SEEING, module="solution")
        assert (
            "test_solution.py::test_memory" in beside.failing_tests
        ), "in one process they are seen"
        run = split(box, LOOKING, SEEING)
        assert run.passed, run


def test_what_is_handed_over_can_be_used_but_not_looked_behind(box: WarmSandbox) -> None:
    run = split(box, BEHIND, BEHIND_TESTS)
    assert set(run.outcomes.values()) == {"passed"}, run
    assert not run.passed, "what was not allowed must not count"
    assert run.own_equality == ("test_solution.py::test_own_equality",)


def test_operators_that_were_not_asked_make_no_green(box: WarmSandbox) -> None:
    """A test that awaits inequality or an error would get it from us, whatever the code does."""
    run = split(box, BEHIND, DECLINED_TESTS)
    assert run.outcomes == {"test_solution.py::test_equal_to_nothing": "passed"}
    assert not run.passed


def test_a_dead_process_fails_the_test_and_all_after_it(box: WarmSandbox) -> None:
    code = "import os\ndef f(): os._exit(0)\ndef g(): return 1\n"
    tests = (
        "from solution import f, g\ndef test_f():\n    f()\ndef test_g():\n    assert g() == 1\n"
    )
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
        run = split(
            box, "def f():\n    while True: pass\n", "from solution import f\ndef test_f(): f()\n"
        )
    assert run.ending == "timeout"
    (failure,) = run.failures
    assert failure.exception == "Timeout"
    assert [frame.text for frame in failure.frames] == ["def test_f(): f()"], "the tests' process"


@pytest.mark.parametrize("answer", ["[0] * 10**7", "'x' * 10**8", "deep()", "iter(int, 1)"])
def test_large_answers_are_no_trouble(box: WarmSandbox, answer: str) -> None:
    deep = "def deep():\n    x = ()\n    for _ in range(100000): x = (x,)\n    return x\n"
    code = f"{deep}def f(): return {answer}\n"
    run = split(box, code, "from solution import f\ndef test_f(): assert f() == 1\n")
    assert not run.passed
    assert run.ending in ("finished", "memory"), run
