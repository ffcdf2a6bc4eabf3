"""Which values, as they are encoded, may have an equality of their own."""

from __future__ import annotations

import collections
import dataclasses
import enum
import json
from typing import Any, NamedTuple

import pytest

from greenloop.sandbox.guest.scenarios.checks import Observation
from greenloop.sandbox.guest.scenarios.encoder import Encoder


class Plain:
    pass


class Equal(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Larger(int):
    def __gt__(self, other: object) -> bool:
        return True


class Words(list[Any]):
    pass


class Point(NamedTuple):  # has a `__repr__`
    x: int


@dataclasses.dataclass
class Record:
    x: int


class Holder:
    def __init__(self, held: object) -> None:
        self.held = held


class Pair(NamedTuple):
    index: int
    count: int


class LoudPair(Pair):
    def __len__(self) -> int:
        return 7


class Level(enum.IntEnum):
    LOW = 1


class Colour(enum.Enum):
    RED = 1


def build_observation(value: Any) -> Observation:
    payload = {"value": Encoder(10_000, "m").encode(value)}
    return Observation(json.dumps(payload))


@pytest.mark.parametrize(
    "value",
    [
        *(3, "object", [1, ("class",)], {"enum": {1}}, Words("a"), Level.LOW, Colour.RED),
        *(Plain(), [1, Plain()], {"a": Plain()}, Plain, Point(1), Pair(1, 2)),
        *(Record(1), {"a": Record(1)}, collections.defaultdict(list, {1: Plain()})),
    ],
)
def test_what_has_the_equality_of_a_built_in_class_or_of_a_record_is_none(value: Any) -> None:
    """Other operators of an object cannot be observed, so that nothing depends on them."""
    observation = build_observation(value)
    observation()
    assert not observation.has_objects


@pytest.mark.parametrize(
    "value",
    [
        Equal(1),
        [Equal(1)],
        Larger(1),
        {"a": Equal(1)},
        Holder(Equal(1)),
        LoudPair(1, 2),
    ],
)
def test_what_has_an_equality_of_its_own_is_one(value: Any) -> None:
    observation = build_observation(value)
    observation()
    assert observation.has_objects


def test_an_exception_has_those_of_its_attributes() -> None:
    error = ValueError("object")
    observation = build_observation([error])
    observation()
    assert not observation.has_objects
    error.kind = Equal(1)  # type: ignore[attr-defined]
    observation = build_observation([error])
    observation()
    assert observation.has_objects


def test_what_nobody_asks_for_does_not_count() -> None:
    observation = build_observation(Equal(1))
    observation.check_completed()
    assert not observation.has_objects
