"""Odd but right: metaclasses, dynamic classes, descriptors, weak references."""

from __future__ import annotations

from tests.security.forgery.case import Odd

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
}
