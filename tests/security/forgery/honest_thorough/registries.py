"""Registries, state of the module, and libraries of their own kind."""

from __future__ import annotations

from tests.security.forgery.case import Odd

THOROUGH = {
    "forms by singledispatch": Odd(
        code="""
from datetime import date
from functools import singledispatch


@singledispatch
def show(value):
    raise TypeError(f"cannot show {type(value).__name__}")


@show.register
def _(value: bool):
    return "yes" if value else "no"


@show.register(int)
@show.register(float)
def _(value):
    return f"{value:,}"


@show.register
def _(value: date):
    return f"{value:%d.%m.%Y}"


@show.register(list)
@show.register(tuple)
def _(value):
    return "[" + "; ".join(map(show, value)) + "]"


@show.register
def _(value: dict):
    return "{" + "; ".join(f"{key}: {show(item)}" for key, item in sorted(value.items())) + "}"
""",
        tests="""
from datetime import date, datetime

import pytest

from m import show


@pytest.mark.parametrize(
    "value, text",
    [
        (True, "yes"),
        (False, "no"),
        (1234567, "1,234,567"),
        (1234.5, "1,234.5"),
        (date(2024, 3, 1), "01.03.2024"),
        (datetime(2024, 3, 1, 5), "01.03.2024"),
        ([1, True], "[1; yes]"),
        ((), "[]"),
        ({"b": 2, "a": [1]}, "{a: [1]; b: 2}"),
        ({}, "{}"),
    ],
)
def test_show(value, text):
    assert show(value) == text


def test_unknown():
    with pytest.raises(TypeError, match="cannot show set"):
        show({1})


def test_unknown_inside():
    with pytest.raises(TypeError, match="cannot show NoneType"):
        show([None])
""",
    ),
    "shapes that register themselves": Odd(
        code="""
import math


class Shape:
    kinds = {}

    def __init_subclass__(cls, *, tag, **more):
        super().__init_subclass__(**more)
        if tag in Shape.kinds:
            raise TypeError(f"two shapes {tag}")
        cls.tag = tag
        Shape.kinds[tag] = cls

    def __init__(self, *sides):
        if len(sides) != self.count or min(sides) <= 0:
            raise ValueError(f"{self.tag} needs {self.count} positive sides")
        self.sides = sides


class Circle(Shape, tag="o"):
    count = 1

    def area(self):
        return math.pi * self.sides[0] ** 2


class Box(Shape, tag="b"):
    count = 2

    def area(self):
        return self.sides[0] * self.sides[1]


class Triangle(Shape, tag="t"):
    count = 3

    def area(self):
        a, b, c = self.sides
        s = (a + b + c) / 2
        rest = s * (s - a) * (s - b) * (s - c)
        return math.sqrt(rest) if rest > 0 else 0.0


def parse(text):
    tag, *sides = text.split()
    if tag not in Shape.kinds:
        raise KeyError(tag)
    return Shape.kinds[tag](*map(float, sides))


def total(texts):
    return round(sum(parse(text).area() for text in texts), 3)
""",
        tests="""
import pytest

from m import Shape, parse, total


@pytest.mark.parametrize(
    "text, area", [("o 1", 3.14159), ("o 2", 12.56637), ("b 2 3.5", 7.0), ("t 3 4 5", 6.0), ("t 1 2 9", 0.0)]
)
def test_area(text, area):
    assert parse(text).area() == pytest.approx(area, abs=1e-4)


def test_total():
    assert total(["b 1 2", "b 3 4"]) == 14
    assert total(["o 0.5"]) == 0.785
    assert total([]) == 0


def test_tags():
    assert sorted(Shape.kinds) == ["b", "o", "t"]
    assert parse("b 1 1").tag == "b"


@pytest.mark.parametrize("text, message", [("o 1 2", "o needs 1"), ("b 1 0", "b needs 2"), ("t 1 2 -1", "t needs 3")])
def test_bad_sides(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text)


def test_unknown():
    with pytest.raises(KeyError, match="z"):
        parse("z 1")


def test_twice():
    with pytest.raises(TypeError, match="two shapes o"):
        type("Ring", (Shape,), {}, tag="o")
""",
    ),
    "libraries that are imported late": Odd(
        code="""
def _load(name):
    import importlib

    return importlib.import_module(name)


def convert(text, kind):
    if kind == "json":
        return _load("json").loads(text)
    if kind == "csv":
        return [list(row) for row in _load("csv").reader(text.splitlines())]
    if kind == "ini":
        parser = _load("configparser").ConfigParser()
        parser.read_string(text)
        return {name: dict(parser[name]) for name in parser.sections()}
    if kind == "xml":
        root = _load("xml.etree.ElementTree").fromstring(text)
        return root.tag, dict(root.attrib), [child.tag for child in root]
    raise ValueError(f"unknown kind {kind!r}")
""",
        tests=r"""
import pytest

from m import convert


def test_json():
    assert convert('{"a": [1, null]}', "json") == {"a": [1, None]}


def test_csv():
    assert convert('a,b\n"x, y",2\n', "csv") == [["a", "b"], ["x, y", "2"]]


def test_ini():
    assert convert("[one]\nkey = value\n[two]\n", "ini") == {"one": {"key": "value"}, "two": {}}


def test_xml():
    assert convert('<a k="1"><b/><c/></a>', "xml") == ("a", {"k": "1"}, ["b", "c"])


def test_unknown():
    with pytest.raises(ValueError, match="unknown kind 'yaml'"):
        convert("", "yaml")


def test_bad_json():
    with pytest.raises(ValueError):
        convert("{", "json")
""",
    ),
    "times in fixed zones": Odd(
        code="""
from datetime import datetime, timedelta, timezone

ZONES = {"UTC": timezone.utc, "IST": timezone(timedelta(hours=5, minutes=30), "IST"), "EST": timezone(timedelta(hours=-5), "EST")}


def parse(text):
    stamp, _, zone = text.rpartition(" ")
    if zone not in ZONES:
        raise ValueError(f"unknown zone {zone!r}")
    return datetime.strptime(stamp, "%Y-%m-%d %H:%M").replace(tzinfo=ZONES[zone])


def move(text, zone):
    return parse(text).astimezone(ZONES[zone])


def show(moment):
    return f"{moment:%Y-%m-%d %H:%M} {moment.tzname()}"


def gap(first, second):
    return abs(parse(first) - parse(second))


def overlaps(a, b):
    (a1, a2), (b1, b2) = (tuple(map(parse, pair)) for pair in (a, b))
    if a2 < a1 or b2 < b1:
        raise ValueError("ends before it begins")
    return a1 < b2 and b1 < a2
""",
        tests="""
from datetime import datetime, timedelta, timezone

import pytest

from m import gap, move, overlaps, parse, show


def test_parse():
    assert parse("2024-02-29 23:30 UTC") == datetime(2024, 2, 29, 23, 30, tzinfo=timezone.utc)
    assert parse("2024-01-01 05:30 IST") == datetime(2024, 1, 1, tzinfo=timezone.utc)
    assert parse("2024-01-01 05:30 IST").utcoffset() == timedelta(hours=5, minutes=30)


@pytest.mark.parametrize(
    "text, zone, expected",
    [
        ("2024-02-29 23:30 UTC", "IST", "2024-03-01 05:00 IST"),
        ("2024-01-01 03:00 UTC", "EST", "2023-12-31 22:00 EST"),
        ("2024-01-01 03:00 EST", "UTC", "2024-01-01 08:00 UTC"),
    ],
)
def test_move(text, zone, expected):
    assert show(move(text, zone)) == expected


def test_gap():
    assert gap("2024-01-01 00:00 UTC", "2024-01-01 05:30 IST") == timedelta(0)
    assert gap("2024-01-02 00:00 UTC", "2024-01-01 00:00 EST") == timedelta(hours=19)


def test_overlaps():
    day = ("2024-01-01 00:00 UTC", "2024-01-02 00:00 UTC")
    assert overlaps(day, ("2024-01-01 20:00 EST", "2024-01-03 00:00 UTC")) is False
    assert overlaps(day, ("2024-01-01 18:59 EST", "2024-01-03 00:00 UTC")) is True
    with pytest.raises(ValueError, match="ends before"):
        overlaps(day, day[::-1])
    with pytest.raises(ValueError, match="ends before"):
        overlaps(day[::-1], day)


def test_unknown_zone():
    with pytest.raises(ValueError, match="unknown zone 'CET'"):
        parse("2024-01-01 00:00 CET")
""",
    ),
    "an iterator that looks ahead": Odd(
        code="""
class Peekable:
    _END = object()

    def __init__(self, items):
        self._items = iter(items)
        self._next = next(self._items, self._END)

    def __iter__(self):
        return self

    def __next__(self):
        if self._next is self._END:
            raise StopIteration
        value, self._next = self._next, next(self._items, self._END)
        return value

    def peek(self, default=None):
        return default if self._next is self._END else self._next

    def __bool__(self):
        return self._next is not self._END


def runs(items):
    found, peekable = [], Peekable(items)
    for value in peekable:
        count = 1
        while peekable and peekable.peek() == value:
            next(peekable)
            count += 1
        found.append((value, count))
    return found


def flatten(value, depth=-1):
    if not isinstance(value, list) or depth == 0:
        yield value
        return
    for item in value:
        if isinstance(item, list):
            yield from flatten(item, depth - 1) if depth != 1 else [item]
        else:
            yield item


def ackermann(m, n):
    if m < 0 or n < 0:
        raise ValueError("not negative")
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1 if n == 0 else ackermann(m, n - 1))
""",
        tests="""
import pytest

from m import Peekable, ackermann, flatten, runs


def test_peek():
    found = Peekable("ab")
    assert found.peek() == "a"
    assert next(found) == "a"
    assert found.peek() == "b"
    assert list(found) == ["b"]
    assert found.peek("end") == "end"
    with pytest.raises(StopIteration):
        next(found)


def test_truth():
    assert bool(Peekable([])) is False
    assert bool(Peekable([0])) is True


@pytest.mark.parametrize("text, expected", [("aab", [("a", 2), ("b", 1)]), ("", []), ("abba", [("a", 1), ("b", 2), ("a", 1)])])
def test_runs(text, expected):
    assert runs(text) == expected


@pytest.mark.parametrize(
    "value, depth, expected",
    [
        ([1, [2, [3, [4]]]], -1, [1, 2, 3, 4]),
        ([1, [2, [3]]], 1, [1, [2, [3]]]),
        ([1, [2, [3, [4]]]], 2, [1, 2, [3, [4]]]),
        ([], -1, []),
        (7, -1, [7]),
        ([[1]], 0, [[[1]]]),
    ],
)
def test_flatten(value, depth, expected):
    assert list(flatten(value, depth)) == expected


@pytest.mark.parametrize("m, n, expected", [(0, 0, 1), (1, 2, 4), (2, 3, 9), (3, 3, 61)])
def test_ackermann(m, n, expected):
    assert ackermann(m, n) == expected


def test_negative():
    with pytest.raises(ValueError, match="negative"):
        ackermann(-1, 0)
    with pytest.raises(ValueError, match="negative"):
        ackermann(0, -1)
""",
    ),
    "models with fields by a metaclass": Odd(
        code="""
class Field:
    def __init__(self, kind, default=None, check=None):
        self.kind, self.default, self.check = kind, default, check

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        return self if instance is None else instance.__dict__.get(self.name, self.default)

    def __set__(self, instance, value):
        if not isinstance(value, self.kind):
            raise TypeError(f"{self.name} must be {self.kind.__name__}")
        if self.check is not None and not self.check(value):
            raise ValueError(f"bad {self.name}: {value!r}")
        instance.__dict__[self.name] = value


class ModelType(type):
    def __new__(mcls, name, bases, space):
        made = super().__new__(mcls, name, bases, space)
        inherited = [item for base in bases for item in getattr(base, "fields", ())]
        made.fields = tuple(inherited + [key for key, item in space.items() if isinstance(item, Field)])
        return made

    def __len__(cls):
        return len(cls.fields)


class Model(metaclass=ModelType):
    def __init__(self, **given):
        unknown = given.keys() - set(self.fields)
        if unknown:
            raise TypeError(f"unknown: {', '.join(sorted(unknown))}")
        for name, value in given.items():
            setattr(self, name, value)

    def as_dict(self):
        return {name: getattr(self, name) for name in self.fields}


class User(Model):
    name = Field(str, check=bool)
    age = Field(int, 18, lambda value: 0 <= value < 150)


class Admin(User):
    level = Field(int, 1)
""",
        tests="""
import pytest

from m import Admin, Field, Model, User


def test_fields():
    assert User.fields == ("name", "age")
    assert Admin.fields == ("name", "age", "level")
    assert len(Admin) == 3
    assert len(Model) == 0


def test_values():
    user = User(name="Ann")
    assert user.as_dict() == {"name": "Ann", "age": 18}
    user.age = 40
    assert user.age == 40
    assert Admin(level=7).as_dict() == {"name": None, "age": 18, "level": 7}


@pytest.mark.parametrize("given, message", [({"name": 3}, "name must be str"), ({"age": "x"}, "age must be int")])
def test_types(given, message):
    with pytest.raises(TypeError, match=message):
        User(**given)


@pytest.mark.parametrize("given, message", [({"name": ""}, "bad name: ''"), ({"age": 150}, "bad age: 150"), ({"age": -1}, "bad age: -1")])
def test_checks(given, message):
    with pytest.raises(ValueError, match=message):
        User(**given)


def test_unknown():
    with pytest.raises(TypeError, match="unknown: a, z"):
        User(z=1, a=2)


def test_on_the_class():
    assert User.age.default == 18
    assert User.name.kind is str
    assert isinstance(User.age, Field)


def test_limits():
    assert User(age=0).age == 0
    assert User(age=149).age == 149
""",
    ),
    "a converter that warns and logs": Odd(
        code="""
import logging
import warnings

log = logging.getLogger(__name__)
_OLD = {"mile": "mi", "pound": "lb"}
_FACTORS = {"km": 1.0, "mi": 1.609344, "m": 0.001}


def to_km(value, unit):
    if unit in _OLD:
        warnings.warn(f"use {_OLD[unit]}, not {unit}", DeprecationWarning, stacklevel=2)
        unit = _OLD[unit]
    if unit not in _FACTORS:
        log.error("unknown unit %s", unit)
        raise ValueError(unit)
    if value < 0:
        log.warning("negative: %s", value)
    result = round(value * _FACTORS[unit], 3)
    log.debug("%s %s = %s km", value, unit, result)
    return result
""",
        tests="""
import logging
import warnings

import pytest

from m import to_km


def test_values():
    assert to_km(2, "km") == 2.0
    assert to_km(1, "mi") == 1.609
    assert to_km(1500, "m") == 1.5


def test_old_name():
    with pytest.warns(DeprecationWarning, match="use mi, not mile"):
        assert to_km(10, "mile") == 16.093


def test_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert to_km(10, "mi") == 16.093


def test_negative(caplog):
    assert to_km(-1, "km") == -1.0
    assert caplog.messages == ["negative: -1"]


def test_debug(caplog):
    caplog.set_level(logging.DEBUG)
    to_km(0, "m")
    assert caplog.record_tuples == [("m", logging.DEBUG, "0 m = 0.0 km")]


def test_unknown(caplog):
    with pytest.raises(ValueError, match="lb"):
        with pytest.warns(DeprecationWarning):
            to_km(1, "pound")
    assert caplog.messages == ["unknown unit lb"]
""",
    ),
    "counts of the module that tests reset": Odd(
        code="""
_counts = {}
_history = []


def reset():
    _counts.clear()
    _history.clear()


def record(name, amount=1):
    if amount < 1:
        raise ValueError("amount must be positive")
    _counts[name] = _counts.get(name, 0) + amount
    _history.append((name, _counts[name]))
    return _counts[name]


def top(count=1):
    ordered = sorted(_counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [name for name, _ in ordered[:count]]


def history():
    return list(_history)
""",
        tests="""
import pytest

import m


@pytest.fixture(autouse=True)
def clean():
    m.reset()
    yield
    m.reset()


def test_record():
    assert m.record("a") == 1
    assert m.record("a", 4) == 5
    assert m.record("b") == 1


def test_top():
    m.record("x", 2)
    m.record("y", 3)
    m.record("w", 2)
    assert m.top() == ["y"]
    assert m.top(2) == ["y", "w"]
    assert m.top(9) == ["y", "w", "x"]


def test_history():
    m.record("p")
    m.record("q", 2)
    m.record("p")
    assert m.history() == [("p", 1), ("q", 2), ("p", 2)]


def test_nothing():
    assert m.top() == []
    assert m.history() == []


def test_bad_amount():
    with pytest.raises(ValueError, match="positive"):
        m.record("a", 0)
    assert m.history() == []
""",
    ),
    "errors that are built-in ones too": Odd(
        code="""
class AppError(Exception):
    pass


class NotFound(AppError, KeyError):
    pass


class Conflict(AppError, ValueError):
    pass


class Store:
    def __init__(self):
        self._items = {}

    def add(self, name, value):
        if name in self._items:
            raise Conflict(name)
        self._items[name] = value

    def get(self, name):
        if name not in self._items:
            raise NotFound(f"no {name}")
        return self._items[name]

    def size(self):
        return len(self._items)
""",
        tests="""
import pytest

from m import AppError, Conflict, NotFound, Store


def test_get():
    store = Store()
    store.add("a", 1)
    assert store.get("a") == 1
    assert store.size() == 1


def test_missing():
    with pytest.raises(NotFound, match="no b"):
        Store().get("b")


def test_twice():
    store = Store()
    store.add("a", 1)
    with pytest.raises(Conflict, match="a"):
        store.add("a", 2)
    assert store.get("a") == 1


def test_all_are_app_errors():
    with pytest.raises(AppError):
        Store().get("x")


def test_is_a_key_error():
    with pytest.raises(KeyError):
        Store().get("x")
""",
    ),
}
