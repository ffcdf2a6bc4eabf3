"""Whole searches: found patches, rejected candidates, reasons to end."""

import threading
from collections.abc import Callable

import pytest

from greenloop.records import SearchResult, TestRun
from greenloop.repair import search_patches
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile

Repaired = Callable[..., SearchResult]
LONG_S = 60.0  # more than any search needs

FIRST_REPAIRS = [
    pytest.param(
        "def square(n):\n    return n\n\n\ndef cube(n):\n    return n\n",
        "from m import cube, square\n"
        "def test_square(): assert [square(n) for n in (2, 3, 5)] == [4, 9, 25]\n"
        "def test_cube(): assert [cube(n) for n in (2, 3, 5)] == [8, 27, 125]\n",
        None,
        id="two faults: not a single edit",
    ),
    pytest.param(
        "def last(xs, n):\n    return [xs[i] for i in range(len(xs) - n + 1, len(xs))]\n",
        "from m import last\n"
        "def test_two(): assert last([1, 2, 3], 2) == [2, 3]\n"
        "def test_all(): assert last([1, 2], 2) == [1, 2]\n"
        "def test_none(): assert last([1, 2], 0) == []\n",
        "range(len(xs) - n, len(xs))",
        id="one too many",
    ),
    pytest.param(
        "def low(a, b):\n    return max(a, b)\n",
        "import os\nfrom m import low\nPROCESS = os.getpid()\n"
        "def test_low():\n    assert (os.getpid() == PROCESS, low(1, 2), low(5, 3)) == (True, 1, 3)\n"
        "def test_same():\n    assert (os.getpid() == PROCESS, low(2, 2)) == (True, 2)\n",
        "min(a, b)",
        id="tests that fail in forks",
    ),
    pytest.param(
        "def mean(xs):\n    return sum(xs) / len(xs)\n",
        "from m import mean\n"
        "def test_two(): assert mean([1, 3]) == 2\n"
        "def test_none(): assert mean([]) == 0\n",
        "if not xs:\n        return 0",
        id="missing guard",
    ),
    pytest.param(
        "class Count:\n    def __init__(self):\n        self.n = 0\n\n"
        "    def up(self):\n        self.n += 1\n        return self.n\n\n"
        "    def down(self):\n        n = self.n - 1\n        return self.n\n",
        "from m import Count\n"
        "def test_up(): assert Count().up() == 1\n"
        "def test_down():\n    c = Count(); c.up()\n    assert (c.down(), c.n) == (0, 0)\n",
        "self.n = self.n - 1",
        id="missing self",
    ),
    pytest.param(
        "SIZES = {'a': 1, 'b': 3}\n\n\ndef size(key):\n    return SIZES[key]\n",
        "from m import size\n"
        "def test_a(): assert size('a') == 1\n"
        "def test_b(): assert size('b') == 2\n",
        "'b': 2",
        id="a constant that is read when the module is imported",
    ),
    pytest.param(
        "def shares(xs, size):\n    return [xs[i : i + size] for i in range(0, len(xs))]\n",
        "from m import shares\n"
        "def test_two(): assert shares([1, 2, 3, 4, 5], 2) == [[1, 2], [3, 4], [5]]\n",
        "range(0, len(xs), size)",
        id="a missing argument",
    ),
    pytest.param(
        "def less(a, b):\n    return a + b\n",
        "import pytest, time\nfrom m import less\n@pytest.fixture(scope='session', autouse=True)\n"
        "def database():\n    end = time.process_time() + 0.25\n"
        "    while time.process_time() < end: pass\n"
        "def test_none(): assert less(1, 0) == 1\n"
        "def test_less(): assert less(5, 2) == 3\n",
        "a - b",
        id="fixtures that cost more than the failing test",
    ),
]


@pytest.mark.parametrize(("code", "tests", "expected"), FIRST_REPAIRS)
def test_first_patch(repaired: Repaired, code: str, tests: str, expected: str | None) -> None:
    found = repaired(code, tests, seconds=LONG_S, max_patches=1)
    if expected is None:
        assert found.patches == ()
        assert found.ended == "all tried"
    else:
        first = found.patches[0]
        assert expected in first.code
        assert first.diff.startswith("--- m.py\n+++ m.py\n")
        assert 0 < first.suspicion <= 1


def test_search_is_deterministic(repaired: Repaired) -> None:
    code = "def f(a, b):\n    return a + b\n"
    tests = "from m import f\ndef test_f(): assert f(4, 2) == 2\n"
    one, two = (repaired(code, tests, seconds=LONG_S) for _ in range(2))
    assert one.model_copy(update={"seconds": 0}) == two.model_copy(update={"seconds": 0})
    assert one.ended == "enough found"


def test_edit_that_skips_tests_is_rejected(repaired: Repaired) -> None:
    """The test is skipped for another `N`, so it does not fail."""
    code = "N = 2\n\n\ndef f(n):\n    return n ^ 3\n"
    tests = (
        "import pytest, m\n"
        "@pytest.mark.skipif(m.N != 2, reason='no')\n"
        "def test_f(): assert m.f(2) == 99 and m.N == 2\n"
    )
    found = repaired(code, tests, seconds=LONG_S)
    assert not any("N = 2" not in item.code for item in found.patches)


@pytest.mark.parametrize(
    ("code", "ended"),
    [("def f(:\n", "not Python: line 1"), ("\0", "not Python"), ("", "nothing to change")],
)
def test_invalid_source_ends_the_search(repaired: Repaired, code: str, ended: str) -> None:
    found = repaired(code, "import m\ndef test_f(): assert m.f() == 1\n", seconds=LONG_S)
    assert found.patches == ()
    assert ended in found.ended


def test_passing_code_is_unchanged(repaired: Repaired) -> None:
    found = repaired("A = 1\n", "import m\ndef test_a(): assert m.A == 1\n")
    assert (found.ended, found.tried) == ("the tests pass", 0)


def test_code_that_cannot_be_imported_is_repaired(repaired: Repaired) -> None:
    code = "A = [1]\nB = A[1]\n"
    tests = "import m\ndef test_b(): assert m.B == 1\n"
    found = repaired(code, tests, seconds=LONG_S, max_patches=1)
    assert found.patches[0].code in ("A = [1]\nB = A[0]\n", "A = [1]\nB = A[1 - 1]\n")


@pytest.mark.slow
def test_search_can_be_interrupted(box: Sandbox) -> None:
    code = "def f(n):\n    while True:\n        n += 1\n    return n * 2 + 3 - 4 + n\n"
    files = [TestFile("test_m.py", "import m\ndef test_f(): assert m.f(2) == 99999\n")]
    timer = threading.Timer(1.0, box.interrupt)
    timer.start()
    found = search_patches(box, code, files, "m", run=TestRun(ending="timeout"), seconds=LONG_S)
    timer.join()
    assert found.patches == ()
    assert found.ended in ("interrupted", "all tried")
    assert found.seconds < LONG_S


def test_tests_are_measured_up_to_their_limit_of_time(box: Sandbox) -> None:
    code = "def f(n):\n    while n > 2:\n        pass\n    return n\n"
    tests = "from m import f\n" + "".join(
        f"def test_{name}(): assert f({n}) == {wanted}\n"
        for name, n, wanted in (("a", 1, 1), ("b", 2, 3), ("c", 3, 3), ("d", 0, 0))
    )
    files = [TestFile("test_m.py", tests)]
    found = box.measure_tests(code, files, module="m", max_cpu_s=0.3, budget_s=LONG_S).tests
    assert [item.outcome for item in found] == ["passed", "failed", "timeout", "passed"]
    assert [sorted(item.lines) for item in found] == [[2, 4], [2, 4], [2, 3], [2, 4]]
