"""Equality in tests that run as they are."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from greenloop.sandbox.guest.scenarios.inputs.whole import (
    IndistinctError,
    Raising,
    UnequalHashError,
    change,
    equal,
)


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    label: str = "a"


@dataclasses.dataclass(frozen=True)
class Slots:
    __slots__ = ("x",)
    x: int


class Everything:
    def __init__(self, x: int) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return True


class OfItsKind(Everything):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, OfItsKind)


class OwnHash(Everything):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnHash) and self.x == other.x

    def __hash__(self) -> int:
        return id(self)


VALUES = [
    *(None, True, 3, 2.5, 1j, "", "a", b"", b"a", [], [1], (), (1, 2), {}, {1: 2}, set(), {1}),
    *(frozenset({1}), Point(1), Point(2, "b"), Slots(1), object()),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_another_value_is_not_equal(value: Any) -> None:
    assert change(value) != value
    assert equal(value, value)


def test_an_object_with_other_fields_is_of_the_same_class() -> None:
    assert isinstance(change(Point(1)), Point)
    assert isinstance(change(Slots(1)), Slots)


@pytest.mark.parametrize("kind", [Everything, OfItsKind])
def test_what_equals_other_values_proves_nothing(kind: Any) -> None:
    with pytest.raises(IndistinctError, match=f"{kind.__name__} equals several values"):
        equal(kind(1), kind(1))


def test_equal_objects_have_one_hash() -> None:
    with pytest.raises(UnequalHashError):
        equal(OwnHash(1), OwnHash(1))
    assert not equal(OwnHash(1), OwnHash(2))


def test_an_exception_is_expected() -> None:
    with Raising() as found:
        raise KeyError("x")
    assert (found.type, found.value.args) == (KeyError, ("x",))
    with pytest.raises(AssertionError, match="did not raise"), Raising():
        pass
