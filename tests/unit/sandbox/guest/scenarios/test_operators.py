"""Which values, as they are encoded, may have operators of their own."""

from __future__ import annotations

import collections
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


class Level(enum.IntEnum):
    LOW = 1


class Colour(enum.Enum):
    RED = 1


def build_observation(value: Any) -> Observation:
    payload = {"value": Encoder(10_000, "m").encode(value)}
    return Observation(json.dumps(payload))


@pytest.mark.parametrize(
    "value", [3, "object", [1, ("class",)], {"enum": {1}}, Words("a"), Level.LOW]
)
def test_plain_data_has_none(value: Any) -> None:
    observation = build_observation(value)
    observation()
    assert not observation.has_objects


@pytest.mark.parametrize(
    "value",
    [
        *(Plain(), [1, Plain()], {"a": Plain()}, Equal(1), Larger(1), Plain, Words([Plain()])),
        *(Point(1), Colour.RED, collections.defaultdict(list, {1: Plain()})),
    ],
)
def test_objects_have_their_own(value: Any) -> None:
    observation = build_observation(value)
    observation()
    assert observation.has_objects


def test_an_exception_has_those_of_its_attributes() -> None:
    error = ValueError("object")
    observation = build_observation([error])
    observation()
    assert not observation.has_objects
    error.kind = Plain()  # type: ignore[attr-defined]
    observation = build_observation([error])
    observation()
    assert observation.has_objects


def test_what_nobody_asks_for_does_not_count() -> None:
    observation = build_observation(Plain())
    observation.check_completed()
    assert not observation.has_objects
