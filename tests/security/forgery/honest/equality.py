"""Odd but right: equality, order, proxies, enumerations."""

from __future__ import annotations

from tests.security.forgery.case import Odd

ODD = {
    "equality with NotImplemented and an order": Odd(
        """
import functools


@functools.total_ordering
class Version:
    def __init__(self, text):
        self.parts = tuple(int(part) for part in text.split("."))

    def __eq__(self, other):
        if not isinstance(other, Version):
            return NotImplemented
        return self.parts == other.parts

    def __lt__(self, other):
        if not isinstance(other, Version):
            return NotImplemented
        return self.parts < other.parts

    def __hash__(self):
        return hash(self.parts)
""",
        """
import pytest

from m import Version


def test_equal():
    assert Version("1.2") == Version("1.2")
    assert Version("1.2") != Version("1.3")
    assert Version("1.2") != "1.2"


def test_order():
    assert Version("1.2") < Version("1.10")
    assert sorted([Version("2.0"), Version("1.9")])[0].parts == (1, 9)


def test_hash():
    assert len({Version("1.0"), Version("1.0")}) == 1


def test_other_types():
    with pytest.raises(TypeError):
        Version("1") < 3
""",
    ),
    "a proxy that passes everything on": Odd(
        """
class Proxy:
    def __init__(self, target):
        object.__setattr__(self, "_target", target)
        object.__setattr__(self, "calls", [])

    def __getattr__(self, name):
        self.calls.append(name)
        return getattr(self._target, name)

    def __setattr__(self, name, value):
        setattr(self._target, name, value)

    def __eq__(self, other):
        return self._target == other

    def __len__(self):
        return len(self._target)

    __hash__ = None


def wrapped(value):
    return Proxy(value)
""",
        """
from m import wrapped


def test_equal_to_what_it_stands_for():
    assert wrapped([1, 2]) == [1, 2]
    assert len(wrapped("abc")) == 3


def test_calls_are_noted():
    proxy = wrapped("abc")
    assert proxy.upper() == "ABC"
    assert proxy.calls == ["upper"]


def test_attributes_are_set_on_the_target():
    class Plain:
        pass

    target = Plain()
    wrapped(target).x = 5
    assert target.x == 5
""",
    ),
    "dataclasses without and with order": Odd(
        """
from dataclasses import dataclass, field


@dataclass(eq=False)
class Node:
    name: str
    children: list = field(default_factory=list)


@dataclass(order=True, frozen=True)
class Card:
    rank: int
    suit: str = field(compare=False, default="?")


def best(cards):
    return max(cards)
""",
        """
import dataclasses

import pytest

from m import Card, Node, best


def test_nodes_are_themselves():
    one, other = Node("a"), Node("a")
    assert one != other
    assert one == one
    one.children.append(other)
    assert other.children == []


def test_cards():
    assert best([Card(2), Card(9, "h"), Card(4)]) == Card(9, "s")
    assert Card(3) < Card(4)


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Card(3).rank = 4
    assert Card(1).suit == "?"
""",
    ),
    "an enumeration that equals text": Odd(
        """
import enum


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"

    def __eq__(self, other):
        if isinstance(other, str):
            return self.value == other.lower()
        return self is other

    __hash__ = enum.Enum.__hash__

    @classmethod
    def _missing_(cls, value):
        for item in cls:
            if item == value:
                return item
        return None
""",
        """
import pytest

from m import Colour


def test_text():
    assert Colour.RED == "RED"
    assert Colour.RED == "red"
    assert Colour.RED != "blue"
    assert Colour.RED != 1


def test_missing():
    assert Colour("Blue") is Colour.BLUE
    with pytest.raises(ValueError):
        Colour("green")
""",
    ),
}
