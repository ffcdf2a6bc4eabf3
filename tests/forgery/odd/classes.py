"""Odd but right: metaclasses, equality, descriptors, proxies, dynamic classes."""

from __future__ import annotations

from tests.forgery.case import Odd

ODD = {
    "a metaclass registry": Odd(
        """
class Meta(type):
    known = {}

    def __new__(cls, name, bases, space):
        made = super().__new__(cls, name, bases, space)
        cls.known[name] = made
        return made


class Base(metaclass=Meta):
    pass


class Child(Base):
    pass


def names():
    return sorted(Meta.known)
""",
        """
from m import Base, Child, names


def test_names():
    assert names() == ["Base", "Child"]


def test_is():
    assert issubclass(Child, Base)
    assert type(Base).known["Child"] is Child
""",
    ),
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
    "classes made by type()": Odd(
        """
def record(name, *fields):
    def __init__(self, *values):
        if len(values) != len(fields):
            raise TypeError(f"{name} takes {len(fields)} values")
        for field, value in zip(fields, values):
            setattr(self, field, value)

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    return type(name, (), {"__init__": __init__, "__eq__": __eq__, "__slots__": (*fields, "__dict__")})


Point = record("Point", "x", "y")
""",
        """
import pytest

from m import Point, record


def test_fields():
    point = Point(1, 2)
    assert (point.x, point.y) == (1, 2)
    assert type(point).__name__ == "Point"


def test_another():
    made = record("Name", "first")
    assert made("A").first == "A"


def test_wrong_count():
    with pytest.raises(TypeError, match="takes 2"):
        Point(1)
""",
    ),
    "descriptors and slots": Odd(
        """
class Positive:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return self if instance is None else getattr(instance, self.name)

    def __set__(self, instance, value):
        if value <= 0:
            raise ValueError(f"{self.name[1:]} must be positive")
        setattr(instance, self.name, value)


class Box:
    __slots__ = ("_width", "_height")
    width = Positive()
    height = Positive()

    def __init__(self, width, height):
        self.width = width
        self.height = height

    @property
    def area(self):
        return self.width * self.height
""",
        """
import pytest

from m import Box


def test_area():
    assert Box(2, 3).area == 6


def test_change():
    box = Box(1, 1)
    box.width = 5
    assert box.area == 5


def test_positive():
    with pytest.raises(ValueError, match="width must be positive"):
        Box(0, 1)
    with pytest.raises(ValueError, match="height"):
        Box(1, -1)


def test_slots():
    with pytest.raises(AttributeError):
        Box(1, 1).depth = 2
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
    "__class_getitem__, __init_subclass__ and __instancecheck__": Odd(
        """
class Shape(type):
    def __instancecheck__(cls, value):
        return hasattr(value, "area")


class Sized(metaclass=Shape):
    pass


class Plugin:
    known = []

    def __init_subclass__(cls, **more):
        super().__init_subclass__(**more)
        Plugin.known.append(cls.__name__)


class Of:
    def __class_getitem__(cls, item):
        return f"Of[{item.__name__}]"
""",
        """
from m import Of, Plugin, Sized


def test_by_its_shape():
    class Square:
        area = 4

    assert isinstance(Square(), Sized)
    assert not isinstance(5, Sized)


def test_subclasses_are_known():
    class Mine(Plugin):
        pass

    assert Plugin.known[-1] == "Mine"


def test_item():
    assert Of[int] == "Of[int]"
""",
    ),
    "weak references": Odd(
        """
import weakref


class Cache:
    def __init__(self):
        self._items = weakref.WeakValueDictionary()
        self.gone = []

    def keep(self, name, value):
        self._items[name] = value
        weakref.finalize(value, self.gone.append, name)

    def names(self):
        return sorted(self._items)
""",
        """
import gc

from m import Cache


class Thing:
    pass


def test_kept_as_long_as_needed():
    cache, one, two = Cache(), Thing(), Thing()
    cache.keep("one", one)
    cache.keep("two", two)
    assert cache.names() == ["one", "two"]
    del one
    gc.collect()
    assert cache.names() == ["two"]
    assert cache.gone == ["one"]
""",
    ),
    "a mapping that looks like one": Odd(
        """
from collections.abc import MutableMapping


class Folded(MutableMapping):
    def __init__(self, *args, **more):
        self._items = {}
        self.update(*args, **more)

    def __getitem__(self, key):
        return self._items[key.lower()][1]

    def __setitem__(self, key, value):
        self._items[key.lower()] = (key, value)

    def __delitem__(self, key):
        del self._items[key.lower()]

    def __iter__(self):
        return (key for key, _ in self._items.values())

    def __len__(self):
        return len(self._items)

    def __eq__(self, other):
        if not isinstance(other, (dict, Folded)):
            return NotImplemented
        return {k.lower(): v for k, v in self.items()} == {k.lower(): v for k, v in other.items()}
""",
        """
import pytest

from m import Folded


def test_case_does_not_matter():
    folded = Folded({"A": 1})
    assert folded["a"] == 1
    folded["a"] = 2
    assert list(folded) == ["a"]
    assert len(folded) == 1


def test_equal():
    assert Folded(A=1) == {"a": 1}
    assert Folded(A=1) != {"a": 2}
    assert Folded(A=1) != 3


def test_delete():
    folded = Folded(X=1)
    del folded["x"]
    assert "X" not in folded
    with pytest.raises(KeyError):
        folded["x"]
""",
    ),
}
