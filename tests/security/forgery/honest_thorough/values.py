"""Values: numbers, money, dates, text, equality and order of their own."""

from __future__ import annotations

from tests.security.forgery.case import Odd

THOROUGH = {
    "ctypes for arithmetic of 32 bits": Odd(
        """
import ctypes


def fnv1a(data):
    value = ctypes.c_uint32(2166136261)
    for byte in data:
        value.value = (value.value ^ byte) * 16777619
    return value.value


def as_signed(number):
    return ctypes.c_int8(number).value
""",
        """
import pytest

from m import as_signed, fnv1a


@pytest.mark.parametrize(
    "data, expected",
    [(b"", 0x811C9DC5), (b"a", 0xE40C292C), (b"foobar", 0xBF9CF968), (bytes([0, 255]), 0xD277C7A0)],
)
def test_hash(data, expected):
    assert fnv1a(data) == expected


def test_signed():
    assert as_signed(127) == 127
    assert as_signed(128) == -128
    assert as_signed(255) == -1
    assert as_signed(256) == 0
""",
    ),
    "vectors with equality, hash and repr": Odd(
        """
import math


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return hash((self.x, self.y))

    def __repr__(self):
        return f"Vector({self.x}, {self.y})"

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def dot(self, other):
        return self.x * other.x + self.y * other.y
""",
        """
import pytest

from m import Vector


def test_fields():
    vector = Vector(3, 4)
    assert (vector.x, vector.y) == (3, 4)


def test_equality():
    assert Vector(1, 2) == Vector(1, 2)
    assert Vector(1, 2) != Vector(2, 1)
    assert Vector(1, 2) != (1, 2)


def test_hash():
    assert len({Vector(1, 2), Vector(1, 2), Vector(1, 3)}) == 2


def test_repr():
    assert repr(Vector(1, -2)) == "Vector(1, -2)"


def test_sum():
    total = Vector(1, 2) + Vector(10, 20)
    assert (total.x, total.y) == (11, 22)


def test_negative():
    turned = -Vector(1, -2)
    assert (turned.x, turned.y) == (-1, 2)


def test_length():
    assert abs(Vector(3, 4)) == pytest.approx(5.0)
    assert abs(Vector(0, 0)) == pytest.approx(0.0)


def test_dot():
    assert Vector(1, 2).dot(Vector(3, 4)) == 11
    assert Vector(1, 0).dot(Vector(0, 1)) == 0
""",
    ),
    "lengths that leave other units to the other side": Odd(
        """
class Length:
    def __init__(self, metres):
        self.metres = metres

    def __add__(self, other):
        if isinstance(other, Length):
            return Length(self.metres + other.metres)
        return NotImplemented

    def __mul__(self, factor):
        if isinstance(factor, (int, float)):
            return Length(self.metres * factor)
        return NotImplemented

    __rmul__ = __mul__

    def __lt__(self, other):
        if isinstance(other, Length):
            return self.metres < other.metres
        return NotImplemented

    def __truediv__(self, other):
        if isinstance(other, Length):
            return self.metres / other.metres
        return Length(self.metres / other)
""",
        """
import pytest

from m import Length


def test_sum():
    assert (Length(2) + Length(3)).metres == 5


def test_sum_with_a_number():
    with pytest.raises(TypeError, match="unsupported operand"):
        Length(2) + 3


def test_product():
    assert (Length(2) * 4).metres == 8
    assert (0.5 * Length(3)).metres == 1.5


def test_product_with_text():
    with pytest.raises(TypeError):
        Length(2) * "x"


def test_order():
    assert (Length(1) < Length(2)) is True
    assert (Length(2) < Length(2)) is False
    assert max([Length(3), Length(7), Length(5)], key=lambda item: item.metres).metres == 7


def test_order_with_a_number():
    with pytest.raises(TypeError):
        Length(1) < 2


def test_quotient():
    assert Length(6) / Length(4) == 1.5
    assert (Length(6) / 4).metres == 1.5
""",
    ),
    "a bill in decimals": Odd(
        """
from decimal import ROUND_HALF_UP, Decimal

_CENT = Decimal("0.01")


def with_tax(net, rate):
    return (Decimal(net) * (1 + Decimal(rate) / 100)).quantize(_CENT, ROUND_HALF_UP)


def split(total, people):
    if people < 1:
        raise ValueError(f"{people} people")
    cents = int(Decimal(total) * 100)
    each, rest = divmod(cents, people)
    return [Decimal(each + (n < rest)) / 100 for n in range(people)]


def shown(amount):
    return f"{Decimal(amount):,.2f}"
""",
        """
from decimal import Decimal

import pytest

from m import shown, split, with_tax


@pytest.mark.parametrize(
    "net, rate, expected",
    [("100", "19", "119.00"), ("0.05", "10", "0.06"), ("19.99", "7", "21.39"), ("8", "0", "8.00")],
)
def test_with_tax(net, rate, expected):
    assert with_tax(net, rate) == Decimal(expected)


def test_tax_keeps_two_places():
    assert str(with_tax("10", "0")) == "10.00"


def test_split_evenly():
    assert split("9.00", 3) == [Decimal("3"), Decimal("3"), Decimal("3")]


def test_split_with_rest():
    assert split("10.00", 3) == [Decimal("3.34"), Decimal("3.33"), Decimal("3.33")]
    assert split("0.05", 4) == [Decimal("0.02"), Decimal("0.01"), Decimal("0.01"), Decimal("0.01")]
    assert split("7.50", 1) == [Decimal("7.50")]


@pytest.mark.parametrize("people", [0, -1])
def test_split_by_nobody(people):
    with pytest.raises(ValueError, match=f"{people} people"):
        split("1", people)


def test_shown():
    assert shown("1234567.891") == "1,234,567.89"
    assert shown(0) == "0.00"
""",
    ),
    "working days": Odd(
        """
from datetime import date, timedelta


def is_working_day(day, holidays=()):
    return day.weekday() < 5 and day not in holidays


def add_working_days(day, count, holidays=()):
    step = timedelta(days=1 if count >= 0 else -1)
    left = abs(count)
    while left:
        day += step
        if is_working_day(day, holidays):
            left -= 1
    return day


def days_left(day):
    return (date(day.year + 1, 1, 1) - day).days - 1
""",
        """
from datetime import date

import pytest

from m import add_working_days, days_left, is_working_day

FRIDAY, SATURDAY, SUNDAY, MONDAY = (date(2024, 3, n) for n in (1, 2, 3, 4))


def test_working_days():
    assert is_working_day(FRIDAY) is True
    assert is_working_day(SATURDAY) is False
    assert is_working_day(SUNDAY) is False
    assert is_working_day(MONDAY, [MONDAY]) is False


@pytest.mark.parametrize(
    "start, count, expected",
    [
        (FRIDAY, 0, FRIDAY),
        (FRIDAY, 1, MONDAY),
        (FRIDAY, 5, date(2024, 3, 8)),
        (FRIDAY, 6, date(2024, 3, 11)),
        (MONDAY, -1, FRIDAY),
        (SUNDAY, -6, date(2024, 2, 23)),
    ],
)
def test_added(start, count, expected):
    assert add_working_days(start, count) == expected


def test_over_a_holiday():
    assert add_working_days(FRIDAY, 1, {MONDAY}) == date(2024, 3, 5)


def test_days_left():
    assert days_left(date(2023, 12, 31)) == 0
    assert days_left(date(2023, 12, 30)) == 1
    assert days_left(date(2024, 1, 1)) == 365
""",
    ),
    "durations by a pattern": Odd(
        """
import re

_PATTERN = re.compile(r"(?:(?P<h>[0-9]+)h)?(?:(?P<m>[0-9]+)m)?(?:(?P<s>[0-9]+)s)?")
_SECONDS = {"h": 3600, "m": 60, "s": 1}


def seconds(text):
    found = _PATTERN.fullmatch(text.replace(" ", ""))
    if not found or not found[0]:
        raise ValueError(f"no duration: {text!r}")
    return sum(int(value) * _SECONDS[unit] for unit, value in found.groupdict("0").items())


def text_of(total):
    if total < 0:
        raise ValueError("negative")
    parts = []
    for unit, size in _SECONDS.items():
        count, total = divmod(total, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts) or "0s"
""",
        """
import random

import pytest

from m import seconds, text_of


@pytest.mark.parametrize(
    "text, expected",
    [("1h", 3600), ("2m", 120), ("45s", 45), ("1h30m", 5400), ("1h 1m 1s", 3661), ("0s", 0)],
)
def test_seconds(text, expected):
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", " ", "5", "3m1h", "1d", "1hx"])
def test_no_duration(text):
    with pytest.raises(ValueError, match="no duration"):
        seconds(text)


@pytest.mark.parametrize(
    "total, expected",
    [(0, "0s"), (59, "59s"), (60, "1m"), (3599, "59m 59s"), (3600, "1h"), (7325, "2h 2m 5s")],
)
def test_text(total, expected):
    assert text_of(total) == expected


def test_negative():
    with pytest.raises(ValueError, match="negative"):
        text_of(-1)


def test_round_trip():
    rng = random.Random(3)
    for _ in range(100):
        total = rng.randrange(100000)
        assert seconds(text_of(total)) == total
""",
    ),
    "versions, frozen and ordered": Odd(
        """
from dataclasses import dataclass, replace


@dataclass(frozen=True, order=True)
class Version:
    major: int
    minor: int = 0
    patch: int = 0

    @classmethod
    def parse(cls, text):
        parts = text.removeprefix("v").split(".")
        if not 1 <= len(parts) <= 3:
            raise ValueError(f"no version: {text}")
        return cls(*map(int, parts))

    def bump(self, part):
        if part == "major":
            return Version(self.major + 1)
        if part == "minor":
            return Version(self.major, self.minor + 1)
        return replace(self, patch=self.patch + 1)

    def __str__(self):
        return f"{self.major}.{self.minor}.{self.patch}"
""",
        """
import dataclasses

import pytest

from m import Version


@pytest.mark.parametrize(
    "text, expected", [("1.2.3", (1, 2, 3)), ("v2.5", (2, 5, 0)), ("10", (10, 0, 0))]
)
def test_parse(text, expected):
    assert dataclasses.astuple(Version.parse(text)) == expected


@pytest.mark.parametrize("text", ["1.2.3.4", "", "1.x"])
def test_bad(text):
    with pytest.raises(ValueError):
        Version.parse(text)


def test_too_long():
    with pytest.raises(ValueError, match="no version: 1.2.3.4"):
        Version.parse("1.2.3.4")


def test_text():
    assert str(Version(1, 2, 3)) == "1.2.3"
    assert str(Version(4)) == "4.0.0"


@pytest.mark.parametrize(
    "part, expected", [("major", "2.0.0"), ("minor", "1.3.0"), ("patch", "1.2.4")]
)
def test_bump(part, expected):
    assert str(Version(1, 2, 3).bump(part)) == expected


def test_order():
    texts = ["1.10.0", "1.9.9", "0.99.0", "1.9.10"]
    ordered = sorted(map(Version.parse, texts))
    assert [str(item) for item in ordered] == ["0.99.0", "1.9.9", "1.9.10", "1.10.0"]


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Version(1).major = 2
""",
    ),
    "permissions as flags": Odd(
        """
import enum


class Permission(enum.Flag):
    READ = 4
    WRITE = 2
    RUN = 1

    @property
    def text(self):
        return "".join(
            letter if item in self else "-" for letter, item in zip("rwx", _ORDER)
        )


_ORDER = (Permission.READ, Permission.WRITE, Permission.RUN)


def parse(text):
    if len(text) != 3:
        raise ValueError(f"three letters, not {text!r}")
    found = Permission(0)
    for letter, name, item in zip(text, "rwx", _ORDER):
        if letter == name:
            found |= item
        elif letter != "-":
            raise ValueError(f"{letter!r} in place of {name!r}")
    return found


def octal(*permissions):
    return int("".join(str(item.value) for item in permissions), 8)
""",
        """
import pytest

from m import Permission, octal, parse


@pytest.mark.parametrize(
    "text, value", [("rwx", 7), ("r-x", 5), ("---", 0), ("-w-", 2), ("r--", 4), ("--x", 1)]
)
def test_both_ways(text, value):
    assert parse(text).value == value
    assert Permission(value).text == text


def test_members():
    assert parse("rw-") == Permission.READ | Permission.WRITE
    assert Permission.RUN not in parse("rw-")


@pytest.mark.parametrize("text", ["", "rw", "rwxr"])
def test_length(text):
    with pytest.raises(ValueError, match="three letters"):
        parse(text)


def test_letter():
    with pytest.raises(ValueError, match="'w' in place of 'r'"):
        parse("wr-")


def test_octal():
    assert octal(parse("rwx"), parse("r-x"), parse("r-x")) == 0o755
    assert octal(parse("rw-"), parse("---"), parse("---")) == 0o600
""",
    ),
}
