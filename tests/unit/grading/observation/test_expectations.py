"""What is expected is compared with encoded values, without a method of the code."""

import datetime
import decimal
import enum
import json
from collections import OrderedDict, namedtuple
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import pytest

from greenloop.grading.observation.equality import AmbiguousError
from greenloop.grading.observation.expectations import holds
from greenloop.grading.observation.values import (
    NoEvidenceError,
    encode,
)
from greenloop.grading.peer.answers import is_strictly_equal
from greenloop.sandbox.guest.observation.encoder import Encoder
from greenloop.testsuite.programs import Expectation


@dataclass
class Record:
    x: int
    note: str = field(default="", compare=False)


@dataclass(frozen=True)
class Key:
    x: tuple[int, ...] = ()


class Own:
    def __init__(self, x: int) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Empty:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Plain:
    pass


@dataclass
class Cached:
    x: int

    def read_twice(self) -> "Cached":
        self.twice = 2 * self.x  # as a cached property does
        return self


class Version(tuple[int, ...]):
    def __lt__(self, other: object) -> bool:
        return True


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Mode(enum.IntFlag):
    READ = 1
    WRITE = 2


class Right(enum.Flag):
    READ = 1
    WRITE = 2


Point = namedtuple("Point", "x y")


def check(kind: str, value: Any, expected: Any, tolerance: tuple[float, float] = (0, 0)) -> bool:
    """Return whether a value is what is expected, which is observed, too."""
    seen = {1: {"value": encode(value)}, 2: {"value": encode(expected)}}
    return holds(
        Expectation(1, 1, kind, None, 2, tolerance),
        json.loads(json.dumps(seen), object_hook=_to_numbers),
    )


def _to_numbers(item: dict[str, Any]) -> dict[Any, Any]:
    return {int(key) if key.isdigit() else key: value for key, value in item.items()}


@pytest.mark.parametrize(
    ("kind", "value", "expected", "outcome"),
    [
        ("==", 1, 1.0, True),
        ("==", True, 1, True),
        ("==", 10**30, 10**30, True),
        ("==", decimal.Decimal("1.50"), 1.5, True),
        ("==", "1", 1, False),
        ("==", [1, 2], (1, 2), False),
        ("==", Point(1, 2), (1, 2), True),
        ("==", {1, 2}, frozenset({2.0, 1}), True),
        ("==", {1: [2]}, OrderedDict({1: [2]}), True),
        ("==", {1: 2}, {1: 3}, False),
        ("==", float("nan"), float("nan"), False),
        ("!=", float("nan"), float("nan"), True),
        ("==", [float("nan")], [float("nan")], True),
        ("==", datetime.date(2024, 1, 2), datetime.date(2024, 1, 2), True),
        ("<", datetime.date(2024, 1, 2), datetime.date(2024, 1, 3), True),
        ("==", Record(1), Record(1), True),
        ("==", Record(1), Record(2), False),
        ("==", Cached(1).read_twice(), Cached(2), False),
        ("==", Version((1, 9)), (1, 8), False),
        ("!=", Record(1), Record(2), True),
        ("==", Own(1), Own(1), True),
        ("==", {Key(): 1, Color.RED: 2}, {Color.RED: 2, Key(): 1}, True),
        ("==", {Key(), Color.RED}, {Color.BLUE, Key()}, False),
        ("==", Color.RED, Color.RED, True),
        ("==", Color.RED, Color.BLUE, False),
        ("is", Color.RED, Color.RED, True),
        ("==", Mode.READ, 1, True),
        ("is", 1, True, False),
        ("is", None, None, True),
        ("is not", 0, None, True),
        ("<", 1, 2.5, True),
        ("not <", {1}, {2}, True),
        ("not <", 1, 2, False),
        ("<=", {1}, {1, 2}, True),
        (">", [2], [1, 5], True),
        ("in", 2, [1, 2], True),
        ("not in", "x", "abc", True),
        ("has", "abc", "b", True),
        ("has", {1: 2}, 1, True),
        ("has not", [1], 2, True),
        ("unordered", [2, 1], [1, 2], True),
        ("match", "abc", "b.", True),
    ],
)
def test_values_are_compared_as_python_does(
    kind: str, value: Any, expected: Any, outcome: bool
) -> None:
    assert check(kind, value, expected) is outcome


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("==", Own(1), Own(2)),
        ("==", Own(1), 5),
        ("==", Empty(), Empty()),
        ("!=", Own(1), Own(2)),
        ("<", Own(1), 5),
        ("has", Plain(), 5),
        ("==", Record(1, "a"), Record(1, "b")),
        ("==", Cached(1).read_twice(), Cached(1)),
        ("<", Version((1, 9)), Version((1, 10))),
        ("match", "a" * 1000, "(a+)+b"),
    ],
)
def test_what_only_operators_of_the_code_can_compare_is_no_evidence(
    kind: str, value: Any, expected: Any
) -> None:
    with pytest.raises(NoEvidenceError):
        check(kind, value, expected)


def test_numbers_are_near_in_containers_too() -> None:
    assert check("near", {"a": [1.0, 2.0]}, {"a": (1.0001, 2.0)}, (1e-3, 0.0))
    assert not check("near", [1.0], [1.1], (1e-3, 0.0))
    assert check("not near", 1.0, 2.0, (1e-3, 0.0))


_ARRAY, _ROWS = ["ndarray", ["list", 2], ["list", 0.0, 0.0]], ["list", ["list", 0.0, 0.0]]


@pytest.mark.parametrize(
    ("expected", "outcome"), [(0, True), (1, False), (["list", 0, 0], True), (_ROWS, None)]
)
def test_arrays_are_compared_with_a_number_for_all_items(expected: Any, outcome: Any) -> None:
    seen = {1: {"value": _ARRAY}, 2: {"value": expected}}
    with pytest.raises(NoEvidenceError) if outcome is None else nullcontext():
        assert holds(Expectation(1, 1, "near", None, 2), seen) is outcome


def test_a_flag_without_members_is_false() -> None:
    assert holds(Expectation(1, 1, "truth", False), {1: {"value": encode(Right(0))}})


@pytest.mark.parametrize(
    ("value", "expected", "outcome"),
    [(3, int, True), (True, int, True), ("a", int, False), ("a", (int, str), True)],
)
def test_classes_are_those_of_the_bases(value: Any, expected: Any, outcome: bool) -> None:
    assert check("class", value, expected) is outcome


def raised(error: BaseException, kind: str, expected: Any) -> bool:
    seen = {1: {"error": Encoder(1000, "m").encode_exception(error)}}
    return holds(Expectation(1, 1, kind, expected), seen)


class Ambiguous(KeyError, ValueError):
    pass


def test_exceptions_fit_by_their_bases_and_text() -> None:
    assert raised(ValueError("bad 3"), "raises", "ValueError")
    assert raised(FileNotFoundError(), "raises", "IOError")
    assert not raised(ValueError(), "raises", "KeyError")
    assert raised(ValueError("bad 3"), "text match", r"bad \d")
    assert raised(ValueError("a.c"), "text has", "a.c")
    with pytest.raises(AmbiguousError):
        raised(Ambiguous(), "raises", "KeyError")
    assert not holds(Expectation(1, 1, "raises", "ValueError"), {1: {"value": None}})


def test_what_calls_itself_built_in_is_not() -> None:
    fake = type("ValueError", (Exception,), {"__module__": "builtins"})
    assert not raised(fake(), "raises", "ValueError")


@pytest.mark.parametrize(
    "payload", [{}, {"value": ["float"]}, {"value": ["no such"]}, {"value": []}]
)
def test_what_is_no_value_does_not_hold(payload: dict[str, Any]) -> None:
    assert not holds(Expectation(1, 1, "==", 5), {1: payload})


@pytest.mark.parametrize(
    ("one", "other", "outcome"),
    [(1, 1.0, False), (1.0, 1.0 + 1e-12, True), ([1], [True], False), ({1: 2}, {1: 2.0}, False),
     ({1, 2}, {2, 1}, True), ("a", "a", True), (Point(1, 2), (1, 2), True)],
)  # fmt: skip
def test_held_out_values_are_compared_with_their_types(one: Any, other: Any, outcome: bool) -> None:
    assert is_strictly_equal(encode(one), encode(other)) is outcome
