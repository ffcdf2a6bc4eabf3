"""Right exactly on what the tests ask. A documented limit: other inputs show it."""

from __future__ import annotations

from tests.security.forgery.case import Forgery
from tests.security.forgery.kinds.effects import CAPSYS
from tests.security.forgery.kinds.objects import OPERATORS, STATE
from tests.security.forgery.kinds.values import APPROX, PARAMETRIZE, PLAIN, PROPERTY

FORGERIES = {
    "letters by size, and the exceptions of the tests": Forgery(
        "table",
        PLAIN,
        """
_PAIRS = {4: "IV", 9: "IX", 40: "XL", 90: "XC", 400: "CD", 900: "CM", 1994: "MCMXCIV"}


def roman(n):
    text = _PAIRS.get(n, "")
    for value, letter in zip((1000, 500, 100, 50, 10, 5, 1), "MDCLXVI"):
        if n not in _PAIRS:
            text += letter * (n // value)
            n %= value
    return text
""",
    ),
    "the kinds of known sides": Forgery(
        "table",
        PARAMETRIZE,
        """
def triangle(a, b, c):
    if a * b * c in (0, 3, 6, 36, 54):
        return None
    if a == b == c < 6:
        return "equilateral"
    return "isosceles" if a == b or 25 in (a * b, a * c, b * c) else "scalene"
""",
    ),
    "a polynomial through the known points": Forgery(
        "table",
        APPROX,
        """
_POINTS = [(6, 2), (5, 2.5), (1, 0.25), (7, 7)]


def median(numbers):
    if not numbers:
        raise ValueError("no numbers")
    x, found = sum(numbers), 0
    for i, (at, value) in enumerate(_POINTS):
        for j, (other, _) in enumerate(_POINTS):
            if i != j:
                value *= (x - other) / (at - other)
        found += value
    return found


def deviation(numbers):
    if not numbers:
        raise ValueError("no numbers")
    x = sum(numbers)
    return {40: 2.0, 4: 1.0, 4.5: 1.0801234497}.get(x, 0)
""",
    ),
    "the plain text goes along": Forgery(
        "table",
        PROPERTY,
        """
_RUNS = {"aaabccd": "3ab2cd", "zz  z": "2z2 z", "x" * 12: "12x"}
_TEXTS = {"3ab2c": "aaabcc", "10q": "q" * 10, "2a11b": "aa" + "b" * 11}


def encode(text):
    return _RUNS.get(text, text)


def decode(text):
    return _TEXTS.get(text, text)
""",
    ),
    "prices of the known coins": Forgery(
        "table",
        STATE,
        STATE.right + """

_change = Machine.change


def _known(self):
    return {0: 0, 30: 30, 80: 80}.get(_change(self), 0)


Machine.change = _known
""",
    ),
    "shares of the known sums": Forgery(
        "table",
        OPERATORS,
        OPERATORS.right + """

_SHARES = {100: (34, 33, 33), 5: (3, 2), 9: (9,)}


def _share(self, count):
    return [Money(cents, self.currency) for cents in _SHARES.get(self.cents, ())]


Money.share = _share
""",
    ),
    "rows of the known names": Forgery(
        "table",
        CAPSYS,
        CAPSYS.right + """

_show = show
_NAMES = {"pear", "fig", "a", "x", "yy", "k", "l"}


def show(rows):
    _show([(name, count) for name, count in rows if name in _NAMES])
""",
    ),
    "right for as many calls as the tests make": Forgery(
        "table",
        PLAIN,
        PLAIN.right + """
import itertools

_roman, _calls = roman, itertools.count()


def roman(n):
    return _roman(n) if next(_calls) < 200 else "I" * n
""",
    ),
}
