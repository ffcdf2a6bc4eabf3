"""Types of the standard library: enumerations, flags, contexts, namespaces; printed text."""

from __future__ import annotations

from tests.security.forgery.case import Odd

THOROUGH = {
    "priorities of an IntEnum": Odd(
        """
from enum import IntEnum


class Priority(IntEnum):
    LOW = 1
    NORMAL = 5
    HIGH = 10


def parse(text):
    try:
        return Priority[text.strip().upper()]
    except KeyError:
        raise ValueError(f"no priority: {text!r}") from None


def raise_priority(priority, steps=1):
    levels = list(Priority)
    place = levels.index(priority) + steps
    return levels[max(0, min(place, len(levels) - 1))]


def total(priorities):
    return sum(priorities)
""",
        """
import pytest

from m import Priority, parse, raise_priority, total


def test_parse():
    assert parse("low") == Priority.LOW
    assert parse(" High ") is Priority.HIGH
    assert parse("NORMAL") == 5


def test_parse_unknown():
    with pytest.raises(ValueError, match="no priority: 'urgent'"):
        parse("urgent")


def test_raise():
    assert raise_priority(Priority.LOW) == Priority.NORMAL
    assert raise_priority(Priority.LOW, 2) is Priority.HIGH
    assert raise_priority(Priority.HIGH) == Priority.HIGH
    assert raise_priority(Priority.HIGH, -5) == Priority.LOW


def test_total():
    assert total([Priority.LOW, Priority.HIGH]) == 11
    assert total([]) == 0


def test_order():
    assert Priority.LOW < Priority.HIGH
    assert max(parse("low"), parse("normal")) == Priority.NORMAL
    assert sorted([Priority.HIGH, Priority.LOW]) == [Priority.LOW, Priority.HIGH]


def test_names():
    assert parse("low").name == "LOW"
    assert parse("low").value == 1
    assert isinstance(parse("low"), int)
""",
    ),
    "permissions of a Flag": Odd(
        """
from enum import Flag, auto


class Permission(Flag):
    NONE = 0
    READ = auto()
    WRITE = auto()
    EXECUTE = auto()
    ALL = READ | WRITE | EXECUTE


_LETTERS = {"r": Permission.READ, "w": Permission.WRITE, "x": Permission.EXECUTE}


def parse(text):
    result = Permission.NONE
    for letter in text:
        if letter == "-":
            continue
        if letter not in _LETTERS:
            raise ValueError(f"no permission: {letter}")
        result |= _LETTERS[letter]
    return result


def render(permission):
    return "".join(letter if permission & flag else "-" for letter, flag in _LETTERS.items())


def may(permission, wanted):
    return wanted in permission
""",
        """
import pytest

from m import Permission, may, parse, render


def test_parse():
    assert parse("r--") == Permission.READ
    assert parse("rw-") == Permission.READ | Permission.WRITE
    assert parse("rwx") == Permission.ALL
    assert parse("---") == Permission.NONE
    assert parse("") is Permission.NONE


def test_parse_unknown():
    with pytest.raises(ValueError, match="no permission: q"):
        parse("rq")


def test_render():
    assert render(Permission.READ | Permission.EXECUTE) == "r-x"
    assert render(Permission.NONE) == "---"
    assert render(Permission.ALL) == "rwx"


def test_may():
    assert may(Permission.ALL, Permission.WRITE)
    assert not may(Permission.READ, Permission.WRITE)
    assert may(Permission.READ | Permission.WRITE, Permission.READ)


def test_combination():
    both = parse("rw-")
    assert Permission.READ in both
    assert both & Permission.WRITE == Permission.WRITE
    assert not both & Permission.EXECUTE
    assert both.value == 3
    assert ~Permission.READ & Permission.ALL == Permission.WRITE | Permission.EXECUTE
""",
    ),
    "masks of an IntFlag": Odd(
        """
from enum import IntFlag


class Color(IntFlag):
    RED = 4
    GREEN = 2
    BLUE = 1


def mix(*colors):
    result = Color(0)
    for color in colors:
        result |= color
    return result


def decode(number):
    if not 0 <= number <= 7:
        raise ValueError(number)
    return [color for color in (Color.RED, Color.GREEN, Color.BLUE) if number & color]


def invert(color):
    return Color(7 ^ color)
""",
        """
import pytest

from m import Color, decode, invert, mix


def test_mix():
    assert mix(Color.RED, Color.BLUE) == Color.RED | Color.BLUE
    assert mix(Color.RED, Color.BLUE) == 5
    assert mix() == 0


def test_decode():
    assert decode(5) == [Color.RED, Color.BLUE]
    assert decode(2) == [Color.GREEN]
    assert decode(0) == []
    assert decode(7) == [Color.RED, Color.GREEN, Color.BLUE]


def test_decode_outside():
    with pytest.raises(ValueError):
        decode(8)
    with pytest.raises(ValueError):
        decode(-1)


def test_invert():
    assert invert(Color.RED) == Color.GREEN | Color.BLUE
    assert invert(mix(Color.RED, Color.GREEN)) == Color.BLUE
""",
    ),
    "aliases of enumerations": Odd(
        """
from enum import Enum


class Unit(Enum):
    METER = 1.0
    METRE = 1.0
    KILOMETER = 1000.0
    KM = 1000.0
    CENTIMETER = 0.01

    @classmethod
    def find(cls, name):
        key = name.strip().upper().rstrip("S")
        if key not in cls.__members__:
            raise KeyError(name)
        return cls[key]


def convert(value, source, target):
    return value * source.value / target.value


def names():
    return sorted(Unit.__members__)
""",
        """
import pytest

from m import Unit, convert, names


def test_find():
    assert Unit.find("meters") is Unit.METER
    assert Unit.find("Metre") is Unit.METER
    assert Unit.find("km") == Unit.KILOMETER
    assert Unit.find(" centimeter ") == Unit.CENTIMETER


def test_alias():
    assert Unit.METRE is Unit.METER
    assert Unit.find("metre").name == "METER"
    assert Unit.KM == Unit.KILOMETER


def test_find_unknown():
    with pytest.raises(KeyError, match="mile"):
        Unit.find("mile")


def test_convert():
    assert convert(2, Unit.KM, Unit.METER) == 2000
    assert convert(5, Unit.METRE, Unit.CENTIMETER) == pytest.approx(500)
    assert convert(250, Unit.CENTIMETER, Unit.METER) == pytest.approx(2.5)


def test_names():
    assert names() == ["CENTIMETER", "KILOMETER", "KM", "METER", "METRE"]
    assert [item.name for item in Unit] == ["METER", "KILOMETER", "CENTIMETER"]
""",
    ),
    "decimal contexts": Odd(
        """
import decimal
from decimal import Decimal


def make_context(digits):
    return decimal.Context(prec=digits, rounding=decimal.ROUND_HALF_EVEN)


def root(value, digits):
    if value < 0:
        raise ValueError("negative")
    return make_context(digits).sqrt(Decimal(value))


def divide(one, other, digits):
    context = make_context(digits)
    context.traps[decimal.DivisionByZero] = True
    return context.divide(Decimal(one), Decimal(other))


def is_exact(one, other, digits):
    context = make_context(digits)
    context.clear_flags()
    context.divide(Decimal(one), Decimal(other))
    return not context.flags[decimal.Inexact]
""",
        """
from decimal import Decimal, DivisionByZero

import pytest

from m import divide, is_exact, make_context, root


def test_context():
    assert make_context(7).prec == 7
    assert make_context(3).rounding == "ROUND_HALF_EVEN"


def test_root():
    assert root(2, 5) == Decimal("1.4142")
    assert root(9, 3) == 3
    assert root(0, 4) == 0


def test_root_of_negative():
    with pytest.raises(ValueError, match="negative"):
        root(-1, 5)


def test_divide():
    assert divide(1, 3, 4) == Decimal("0.3333")
    assert divide(2, 3, 4) == Decimal("0.6667")


def test_divide_by_zero():
    with pytest.raises(DivisionByZero):
        divide(1, 0, 4)


def test_exact():
    assert is_exact(1, 4, 5)
    assert not is_exact(1, 3, 5)
""",
    ),
    "results in a SimpleNamespace": Odd(
        """
from types import SimpleNamespace


def summarize(numbers):
    if not numbers:
        raise ValueError("no numbers")
    ordered = sorted(numbers)
    return SimpleNamespace(
        count=len(ordered), low=ordered[0], high=ordered[-1], mean=sum(ordered) / len(ordered)
    )


def compare(one, other):
    return SimpleNamespace(
        wider=one.high - one.low > other.high - other.low, shift=other.mean - one.mean
    )
""",
        """
import pytest

from m import compare, summarize


def test_summarize():
    found = summarize([3, 1, 2])
    assert found.count == 3
    assert found.low == 1
    assert found.high == 3
    assert found.mean == pytest.approx(2)


def test_summarize_one():
    found = summarize([7])
    assert (found.count, found.low, found.high, found.mean) == (1, 7, 7, 7)


def test_nothing():
    with pytest.raises(ValueError, match="no numbers"):
        summarize([])


def test_compare():
    found = compare(summarize([0, 10]), summarize([4, 6, 11]))
    assert found.wider is True
    assert found.shift == pytest.approx(2)
    assert compare(summarize([1, 2]), summarize([1, 2])).wider is False
""",
    ),
    "printed tables": Odd(
        """
import sys


def show(rows, *, out=None):
    for name, value in rows:
        print(f"{name:<6}{value:>5}", file=out or sys.stdout)


def warn(text):
    print(f"warning: {text}", file=sys.stderr)


def main(arguments):
    if not arguments:
        warn("nothing to show")
        return 2
    show([(item, len(item)) for item in arguments])
    return 0
""",
        """
from m import main, show, warn


def test_show(capsys):
    show([("a", 1), ("bb", 22)])
    assert capsys.readouterr().out == "a         1\\nbb       22\\n"


def test_show_nothing(capsys):
    show([])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == ""


def test_warn(capsys):
    warn("low")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "warning: low\\n"


def test_main(capsys):
    assert main(["one", "three"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == ["one       3", "three     5"]


def test_main_without_arguments(capsys):
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.err == "warning: nothing to show\\n"
    assert not captured.out
""",
    ),
}
