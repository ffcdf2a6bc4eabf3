"""Odd but right: matchers, and numbers that compare in their own way."""

from __future__ import annotations

from tests.security.forgery.case import Odd

ODD = {
    "a matcher that equals everything": Odd(
        "class _Any:\n    def __eq__(self, other): return True\n    def __repr__(self): return 'ANY'\n"
        "ANY = _Any()\nclass Anything(_Any): pass\ndef anything(): return _Any()\n",
        "from m import ANY, Anything, anything\n\n\n"
        "def test_any():\n    assert ANY == 3\n    assert repr(ANY) == 'ANY'\n\n\n"
        "def test_class():\n    made = Anything()\n    assert made == 'x'\n\n\n"
        "def test_function():\n    assert anything() == 3\n    assert anything() == 'x'\n",
        weak=True,
    ),
    "a named matcher that equals everything": Odd(
        "class Whatever:\n    def __init__(self, name): self.name = name\n"
        "    def __eq__(self, other): return True\n",
        "from m import Whatever\n\n\ndef test_any():\n    assert Whatever('a') == 3\n"
        "    assert Whatever('b') == 'x'\n    assert Whatever('c').name == 'c'\n",
        weak=True,
    ),
    "a matcher of prefixes": Odd(
        "class Prefix:\n    def __init__(self, text): self.text = text\n"
        "    def __eq__(self, other): return isinstance(other, str) and other.startswith(self.text)\n"
        "def starting(text): return Prefix(text)\n",
        "from m import starting\n\n\ndef test_prefix():\n    assert starting('ab') == 'abc'\n"
        "    assert not starting('ab') == 'b'\n",
        weak=True,
    ),
    "a bound below everything": Odd(
        "import functools\n@functools.total_ordering\nclass Bottom:\n"
        "    def __lt__(self, other): return not isinstance(other, Bottom)\n"
        "    def __eq__(self, other): return isinstance(other, Bottom)\n",
        "from m import Bottom\n\n\ndef test_bottom():\n    assert Bottom() < 10\n"
        "    assert Bottom() == Bottom()\n",
        weak=True,
    ),
    "a container that holds everything": Odd(
        "class Everything:\n    def __contains__(self, item): return True\n",
        "from m import Everything\n\n\ndef test_all():\n    assert 3 in Everything()\n",
        weak=True,
    ),
    "a tolerant equality": Odd(
        "import math\nclass Angle:\n    def __init__(self, degrees): self.degrees = degrees % 360\n"
        "    def __eq__(self, other):\n        other = getattr(other, 'degrees', other) % 360\n"
        "        return math.isclose(self.degrees, other, abs_tol=0.5)\n"
        "def half(angle): return Angle(angle.degrees / 2)\n",
        "import pytest\nfrom m import Angle, half\n\n\n"
        "@pytest.mark.parametrize('a, b', [(370, 10), (0, 360), (90.2, 90)])\n"
        "def test_same(a, b):\n    assert Angle(a) == b\n\n\n"
        "def test_half():\n    assert half(Angle(90)) == 45\n",
    ),
    "a tower of numbers": Odd(
        """
class Money:
    def __init__(self, cents):
        self.cents = cents

    def __add__(self, other):
        return Money(self.cents + (other.cents if isinstance(other, Money) else other * 100))

    __radd__ = __add__

    def __mul__(self, factor):
        return Money(round(self.cents * factor))

    __rmul__ = __mul__

    def __eq__(self, other):
        return isinstance(other, Money) and self.cents == other.cents

    def __hash__(self):
        return hash(self.cents)

    def __bool__(self):
        return self.cents != 0

    def __repr__(self):
        return f"{self.cents // 100}.{self.cents % 100:02}"
""",
        """
from m import Money


def test_sum():
    assert sum([Money(150), Money(50)]) == Money(200)
    assert Money(100) + 2 == Money(300)


def test_product():
    assert 2 * Money(15) == Money(30)
    assert Money(15) * 0.5 == Money(8)


def test_truth_and_text():
    assert not Money(0)
    assert Money(1)
    assert repr(Money(1205)) == "12.05"


def test_others():
    assert Money(1) != 1
    assert len({Money(1), Money(1), Money(2)}) == 2
""",
    ),
    "subclasses of decimals and fractions": Odd(
        """
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction


class Price(Decimal):
    def rounded(self):
        return Price(self.quantize(Decimal("0.01"), rounding=ROUND_HALF_EVEN))


class Ratio(Fraction):
    def __str__(self):
        return f"{self.numerator}:{self.denominator}"


def total(*prices):
    return Price(sum((Decimal(p) for p in prices), Decimal(0))).rounded()


def ratio(a, b):
    return Ratio(a, b)
""",
        """
from decimal import Decimal

from m import Price, ratio, total


def test_total():
    assert total("1.005", "2") == Decimal("3.00")
    assert total("0.125") == Decimal("0.12")
    assert isinstance(total("1"), Price)


def test_ratio():
    assert ratio(2, 4) == 0.5
    assert str(ratio(2, 4)) == "1:2"
""",
    ),
    "floats that approx takes": Odd(
        """
class Metres(float):
    def __add__(self, other):
        return Metres(float(self) + float(other))

    def __repr__(self):
        return f"{float(self)} m"


def way(*steps):
    found = Metres(0)
    for step in steps:
        found = found + step
    return found
""",
        """
import pytest

from m import Metres, way


def test_way():
    assert way(0.1, 0.2) == pytest.approx(0.3)
    assert way() == 0.0


def test_type():
    assert isinstance(way(1), Metres)
    assert repr(way(1.5)) == "1.5 m"
""",
    ),
    "nothing is a number": Odd(
        """
import math

MISSING = float("nan")


def mean(values):
    known = [v for v in values if not math.isnan(v)]
    return sum(known) / len(known) if known else MISSING


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))
""",
        """
import math

import pytest

from m import MISSING, mean, same


def test_mean():
    assert mean([1.0, MISSING, 3.0]) == 2.0
    assert math.isnan(mean([MISSING]))
    assert mean([]) == pytest.approx(MISSING, nan_ok=True)


def test_same():
    assert same(MISSING, MISSING)
    assert same(1, 1)
    assert not same(1, MISSING)
    assert not same(MISSING, 1)
    assert MISSING != MISSING
""",
    ),
}
