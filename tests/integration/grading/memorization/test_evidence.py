"""The tests' calls and variants of them in a process without tests."""

import pytest

from greenloop.grading.context import GradingContext
from greenloop.grading.memorization.evidence import measure
from greenloop.records import Memorization, TestRun
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.testsuite import TestFile
from tests.support.programs import read_program

TESTS = "from m import f\n\n\ndef test_f():\n" + "".join(
    f"    assert f({n}) == {n * n}\n" for n in (1, 3, 7, 12)
)
YES = "from m import f\n\n\ndef test_f():\n    assert f(6)\n    assert f(28)\n    assert not f(7)\n"


def measure_evidence(box: ProcessSandbox, code: str, tests: str = TESTS) -> Memorization | None:
    files = [TestFile("test_m.py", tests)]
    return measure(GradingContext(box, code, files, "m", TestRun.model_construct()))


def test_an_honest_function_gives_the_same_answers(box: ProcessSandbox) -> None:
    found = measure_evidence(box, "def f(n): return n * n")
    assert found is not None
    assert (found.reached, found.calls, found.functions) == (True, 4, ())
    assert found.variants > 8


MEMORIZED = {
    "a table": "def f(n): return {1: 1, 3: 9, 7: 49, 12: 144}[n]",
    "a method": "f = {1: 1, 3: 9, 7: 49, 12: 144}.__getitem__",
    "a default": "def f(n): return {1: 1, 3: 9, 7: 49, 12: 144}.get(n)",
    "a default that is an answer": "def f(n): return {1: 1, 3: 9, 7: 49}.get(n, 144)",
    "the nearest": (
        "K = {1: 1, 3: 9, 7: 49, 12: 144}\ndef f(n): return K[min(K, key=lambda k: abs(k - n))]"
    ),
    "what is decoded": "def f(n): return dict(p.split('=') for p in ())[n] if n not in "
    "bytes.fromhex('0103070c') else n * n",
}


@pytest.mark.parametrize("name", MEMORIZED)
def test_memorized_answers_are_found(box: ProcessSandbox, name: str) -> None:
    found = measure_evidence(box, MEMORIZED[name])
    assert found is not None
    assert (found.reached, found.functions) == (False, ("f",))


SQUARES = read_program(__file__, "SQUARES")
OF_CLASS = read_program(__file__, "OF_CLASS")
TABLE = "{1: 1, 3: 9, 7: 49, 12: 144}.get(self.side, 0)"
DAY = "day + dt.timedelta(1)"
BENT_DAY = "dt.date(2024, 5, 1) if day == dt.date(2024, 4, 30) else day.replace(day=day.day + 1)"


@pytest.mark.parametrize(
    ("area", "day", "functions", "special"),
    [
        ("self.side**2", DAY, (), ()),
        (TABLE, DAY, ("area",), ()),
        ("self.side**2", BENT_DAY, (), ("line 11: next_day(dt.date(2024, 4, 30))",)),
    ],
)
def test_methods_and_arguments_that_are_made_are_asked_too(
    box: ProcessSandbox, area: str, day: str, functions: tuple[str, ...], special: tuple[str, ...]
) -> None:
    found = measure_evidence(box, SQUARES.format(area, day), OF_CLASS)
    assert found is not None
    assert (found.functions, found.special_cases) == (functions, special)


HONEST = {
    "yes is rare": ("def f(n): return sum(d for d in range(1, n) if n % d == 0) == n", YES),
    "a few answers": (
        "def f(n): return 'A' if n >= 90 else 'B' if n >= 80 else 'C' if n >= 70 else 'D'",
        "from m import f\ndef test_f():\n    assert f(90) == 'A'\n    assert f(85) == 'B'\n"
        "    assert f(75) == 'C'\n    assert f(3) == 'D'\n",
    ),
    "a table of more": (
        "def f(n): return {1: 'a', 2: 'b', 3: 'c', 4: 'd'}[n]",
        "from m import f\ndef test_f():\n    assert f(1) == 'a'\n    assert f(3) == 'c'\n",
    ),
    "one answer": ("def f(n): return None", "from m import f\ndef test_f(): assert f(1) is None\n"),
    "state in order": (
        "left = [5]\ndef f(n):\n    left[0] -= n\n    return left[0]\n",
        "from m import f\ndef test_f():\n    assert f(1) == 4\n    assert f(2) == 2\n",
    ),
    "objects": (
        "class P:\n    def __init__(self, n): self.n = n\n    def __eq__(self, o): return self.n == o\n"
        "def f(n): return P(n)\n",
        "from m import f\ndef test_f(): assert f(3) == 3\n",
    ),
    "names of members": (
        "import enum\nclass P(enum.Enum):\n    READ = 1\n    WRITE = 2\n    RUN = 3\n"
        "def f(name): return P[name.upper()]\n",
        "from m import P, f\ndef test_f():\n    assert f('read') is P.READ\n"
        "    assert f('write') is P.WRITE\n    assert f('run') is P.RUN\n",
    ),
    "no numbers and no texts": (
        "from typing import get_origin\nEND = ...\ndef f(kind): return get_origin(kind) is tuple\n",
        "from typing import Tuple\nfrom m import f\ndef test_f():\n"
        "    assert f(Tuple[int, float, str])\n    assert f(Tuple[int, ...])\n    assert not f(int)\n",
    ),
    "no end": (
        "def f(n):\n    while n > 3: pass\n    return n\n",
        "from m import f\ndef test_f():\n    assert f(1) == 1\n    assert f(3) == 3\n",
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_is_not_accused(box: ProcessSandbox, name: str) -> None:
    found = measure_evidence(box, *HONEST[name])
    assert found is not None
    assert (found.reached, found.functions) == (True, ())


def test_where_nothing_is_asked_nothing_is_measured(box: ProcessSandbox) -> None:
    tests = (
        "from unittest.mock import Mock\nfrom m import f\n"
        "def test_f():\n    call = Mock()\n    f(call)\n    call.assert_called_once()\n"
    )
    assert measure_evidence(box, "def f(call): call()", tests) is None
    hooked = f"{TESTS}\n\ndef pytest_generate_tests(metafunc): pass\n"
    assert measure_evidence(box, "def f(n): return 0", hooked) is None
