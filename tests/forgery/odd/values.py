"""Odd but right: numbers, matchers, sentinels, views, nothing-is-a-number."""

from __future__ import annotations

from tests.forgery.case import Odd

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
    "a sentinel": Odd(
        """
class _Missing:
    _one = None

    def __new__(cls):
        if cls._one is None:
            cls._one = super().__new__(cls)
        return cls._one

    def __bool__(self):
        return False

    def __repr__(self):
        return "<missing>"


MISSING = _Missing()


def get(items, key, default=MISSING):
    found = items.get(key, default)
    if found is MISSING:
        raise KeyError(key)
    return found
""",
        """
import pytest

from m import MISSING, get


def test_get():
    assert get({"a": None}, "a") is None
    assert get({}, "a", 5) == 5


def test_missing():
    with pytest.raises(KeyError, match="b"):
        get({"a": 1}, "b")


def test_there_is_one():
    assert type(MISSING)() is MISSING
    assert not MISSING
    assert repr(MISSING) == "<missing>"
""",
    ),
    "a mutable view": Odd(
        """
class Column:
    def __init__(self, rows, index):
        self._rows, self._index = rows, index

    def __getitem__(self, row):
        return self._rows[row][self._index]

    def __setitem__(self, row, value):
        self._rows[row][self._index] = value

    def __len__(self):
        return len(self._rows)

    def __eq__(self, other):
        return list(self) == list(other)

    __hash__ = None


def column(rows, index):
    return Column(rows, index)
""",
        """
from m import column


def test_looks_through():
    rows = [[1, 2], [3, 4]]
    second = column(rows, 1)
    assert second == [2, 4]
    rows[0][1] = 9
    assert second == [9, 4]
    assert len(second) == 2


def test_writes_through():
    rows = [[1, 2], [3, 4]]
    column(rows, 0)[1] = 7
    assert rows == [[1, 2], [7, 4]]
""",
    ),
    "a table of facts": Odd(
        """
_ROMAN = [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


def roman(n):
    if not 0 < n < 40:
        raise ValueError(n)
    found = ""
    for value, sign in _ROMAN:
        while n >= value:
            found += sign
            n -= value
    return found
""",
        """
import pytest

from m import roman


@pytest.mark.parametrize(
    "n, expected",
    [(1, "I"), (4, "IV"), (5, "V"), (9, "IX"), (10, "X"), (14, "XIV"), (39, "XXXIX")],
)
def test_roman(n, expected):
    assert roman(n) == expected


@pytest.mark.parametrize("n", [0, -1, 40, 100])
def test_out_of_range(n):
    with pytest.raises(ValueError):
        roman(n)
""",
    ),
    "a table that is asked for a part": Odd(
        """
_SAID = {200: "OK", 201: "Created", 204: "No Content", 301: "Moved Permanently", 400: "Bad Request",
         403: "Forbidden", 404: "Not Found", 500: "Internal Server Error", 503: "Service Unavailable"}


def reason(status):
    try:
        return _SAID[status]
    except KeyError:
        raise ValueError(f"no such status: {status}") from None


def is_error(status):
    return status >= 400
""",
        """
import pytest

from m import is_error, reason


def test_reason():
    assert reason(200) == "OK"
    assert reason(404) == "Not Found"
    assert reason(503) == "Service Unavailable"


def test_error():
    assert is_error(400)
    assert not is_error(399)


def test_unknown():
    with pytest.raises(ValueError, match="no such status: 999"):
        reason(999)
""",
    ),
}
