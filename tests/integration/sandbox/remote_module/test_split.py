"""Tests and code in two processes: what crosses, and which form a run has."""

from __future__ import annotations

import datetime
import math
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from greenloop.errors import SandboxError
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.guest.remote_module.codec import Codec
from greenloop.sandbox.guest.remote_module.errors import Broken
from greenloop.sandbox.guest.remote_module.referring import Referring

ZONE = datetime.timezone(datetime.timedelta(hours=2), "here")
VALUES: list[Any] = [
    *(None, True, 0, -1, 2**53, -(2**200), 0.1, -0.0, math.inf, -math.inf, 1e-320, 1j),
    *("", "ü\n\0", "\ud800", "\ud83d\ude00", b"", b"\x00\xff", bytearray(b"x"), ...),
    *([], [1, [2, [3]]], (), (1, (2,)), {1, 2}, frozenset({(1,)}), {"b": 1, "a": 2, 3: {4: 5}}),
    *(range(1, 9, 2), slice(None, 3), Decimal("1.10"), Decimal("NaN"), Fraction(-1, 3)),
    *(datetime.date(2024, 2, 29), datetime.time(1, 2, 3, 4), datetime.timedelta(-1, 2, 3)),
    *(datetime.datetime(2024, 1, 1, tzinfo=ZONE), datetime.timezone.utc, Path("a/b")),
    *(deque([1, 2], maxlen=2), OrderedDict(b=1, a=2), Counter("aab"), defaultdict(list, {1: [2]})),
    *(ValueError, int, [True, 1, 1.0]),
]


def two_sides() -> tuple[Codec, Codec]:
    sides = Codec(0), Codec(1)
    for codec in sides:
        refers = Referring(codec, lambda kind: False, lambda kind: False, True, ())
        codec.refer, codec.describe = refers.refer, refers.describe
        codec.by_name = lambda module, name: {"int": int, "list": list}.get(name, ValueError)
    return sides


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_arrive_exactly(value: Any) -> None:
    here, there = two_sides()
    arrived = there.unpacked(here.packed(value))
    assert repr(arrived) == repr(value)
    assert type(arrived) is type(value)


def test_subclasses_arrive_as_plain_values() -> None:
    class Sly(int):
        def __eq__(self, other: object) -> bool:
            return True

        def __index__(self) -> int:
            return 99

        __hash__ = int.__hash__

    here, there = two_sides()
    arrived = there.unpacked(here.packed([Sly(3)]))
    assert type(arrived[0]) is int
    assert repr(arrived) == "[3]"


def test_a_container_stays_the_same_and_changes_on_both_sides() -> None:
    here, there = two_sides()
    inner: list[Any] = [1]
    outer = {"inner": inner, "again": inner}
    arrived = there.unpacked(here.packed(outer))
    assert arrived["inner"] is arrived["again"]
    arrived["inner"].append(True)
    arrived["new"] = 2
    here.unpacked(there.packed(None))
    assert outer == {"inner": [1, True], "again": inner, "new": 2}
    assert outer["inner"] is inner
    inner[0] = 1.0  # equal, but not the same
    assert repr(there.unpacked(here.packed(inner))) == "[1.0, True]"


def test_a_container_may_hold_itself() -> None:
    here, there = two_sides()
    loop: list[Any] = []
    loop.append(loop)
    arrived = there.unpacked(here.packed(loop))
    assert arrived[0] is arrived


@pytest.mark.parametrize(
    "message",
    [
        {"value": ["y", 5]},
        {"value": ["@", 5]},
        {"value": ["o", 5]},
        {"value": ["i", "zz"]},
        {"value": ["nonsense", 1]},
        {"value": {"a": 1}},
        {"value": ["t", 5]},
        {"value": ["dec", "x"]},
        {"heap": [[1, "list", 5]]},
        {"heap": [["x", "list", []]]},
        {"heap": [[1, "list", []], [1, "dict", []]]},
        {"heap": [[1, "dict", [[["@", 1], 1]]]]},
        {"news": [[1, {}], [1, {}]]},
    ],
    ids=str,
)
def test_nonsense_is_refused(message: dict[str, Any]) -> None:
    with pytest.raises(Broken):
        two_sides()[0].unpacked(message)


CODE = "def halve(n):\n    return check(n) / 2\n\n\ndef check(n):\n    return n / 0 if n == 13 else n\n"
TESTS = "from solution import halve\n\n\ndef test_it():\n    assert halve(13) == 6.5\n"


def test_failures_show_the_lines_of_the_code(box: Sandbox) -> None:
    if not box.can_isolate:
        pytest.skip("without namespaces there are no two processes")
    run = box.run_tests(CODE, TESTS, form="split")
    (failure,) = run.failures
    assert failure.exception == "ZeroDivisionError"
    assert [(frame.file, frame.line, frame.text) for frame in failure.frames] == [
        ("test_solution.py", 5, "assert halve(13) == 6.5"),
        ("solution.py", 2, "return check(n) / 2"),
        ("solution.py", 6, "return n / 0 if n == 13 else n"),
    ]


def test_an_import_that_fails_is_shown_with_its_line(box: Sandbox) -> None:
    if not box.can_isolate:
        pytest.skip("without namespaces there are no two processes")
    run = box.run_tests("import nowhere_to_be_found\n", TESTS, form="split", module="solution")
    (failure,) = run.failures
    assert (failure.phase, failure.exception) == ("collect", "ModuleNotFoundError")
    assert failure.frames[-1].text == "import nowhere_to_be_found"


def test_best_says_which_form_it_was(box: Sandbox) -> None:
    good = "def f(): return 1\n"
    simple = "from solution import f\ndef test_f(): assert f() == 1\n"
    source = simple + "def test_source():\n    import inspect\n    assert inspect.getsource(f)\n"
    run, other = (box.run_tests(good, tests, form="best") for tests in (simple, source))
    assert run.passed
    assert other.passed
    assert other.form == "shared"
    if not box.can_isolate:
        assert (run.form, run.not_split) == ("shared", "not available here")
    else:
        assert (run.form, run.not_split) == ("split", "")
        assert "test_source" in other.not_split


def test_what_cannot_be_split_is_not_called_so(box: Sandbox) -> None:
    seed = 5 if box.can_isolate else 0
    with pytest.raises(SandboxError, match="two processes"):
        box.run_tests(CODE, TESTS, form="split", hash_seed=seed)


def test_large_arguments_come_back_changed(box: Sandbox) -> None:
    """However many containers there are, what the code does to its arguments is seen."""
    if not box.can_isolate:
        pytest.skip("without namespaces there are no two processes")
    code = (
        "def f(rows, call):\n    for row in rows:\n        row.append(call(row))\n    return rows\n"
    )
    tests = (
        "from solution import f\n\n\ndef test_rows():\n    rows = [[n] for n in range(1500)]\n"
        "    kept = list(rows)\n    assert f(rows, len) is rows\n"
        "    assert rows == [[n, 1] for n in range(1500)]\n    assert kept[7] is rows[7]\n\n\n"
        "def test_next():\n    rows = [[n] for n in range(3)]\n    seen = []\n"
        "    f(rows, lambda row: seen.append(row) or row.append(5))\n"
        "    assert rows == [[0, 5, None], [1, 5, None], [2, 5, None]]\n    assert seen[1] is rows[1]\n"
    )
    run = box.run_tests(code, tests, form="split")
    assert run.passed, run
