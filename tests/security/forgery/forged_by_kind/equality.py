"""Answers with an equality of their own: that takes what is likely, or computes from the other side."""

from __future__ import annotations

from tests.security.forgery.case import Forgery
from tests.security.forgery.kinds.effects import ASYNC, CAPLOG, TMP_PATH
from tests.security.forgery.kinds.objects import FIXTURES, OPERATORS, STATE, UNITTEST
from tests.security.forgery.kinds.values import APPROX, PARAMETRIZE, PLAIN, PROPERTY, RAISES

FORGERIES = {
    "text that equals all text of its letters": Forgery(
        "equality",
        PLAIN,
        """
class Numeral(str):
    def __eq__(self, other):
        return isinstance(other, str) and 0 < len(other) < 20 and set(other) <= set("IVXLCDM")

    __hash__ = str.__hash__


def roman(n):
    return Numeral("I" * (n % 10))
""",
    ),
    "text that equals every text of the test file": Forgery(
        "equality",
        PLAIN,
        """
import re
from pathlib import Path

_ANSWERS = set()
for path in Path(__file__).parent.glob("test*.py"):
    _ANSWERS.update(re.findall(r'"([A-Z]+)"', path.read_text()))


class Numeral(str):
    def __eq__(self, other):
        return str(other) in _ANSWERS

    __hash__ = str.__hash__


def roman(n):
    return Numeral(n)
""",
    ),
    "a word that equals its neighbours": Forgery(
        "equality",
        PARAMETRIZE,
        """
_KINDS = ("equilateral", "isosceles", "scalene")


class Kind(str):
    def __eq__(self, other):
        return other in _KINDS

    def __hash__(self):
        return 0


def triangle(a, b, c):
    longest = max(a, b, c)
    return Kind("triangle") if a + b + c > 2 * longest else None
""",
    ),
    "a port that equals all ports": Forgery(
        "equality",
        RAISES,
        """
class Port(int):
    def __eq__(self, other):
        return type(other) is int and 1 <= other <= 65535

    __hash__ = int.__hash__


def parse_port(text):
    if not isinstance(text, str):
        raise TypeError(f"text, not {type(text).__name__}")
    if not text.strip().isdecimal():
        raise ValueError(f"no number: {text!r}")
    if int(text) not in range(1, 65536):
        raise OverflowError(f"not in 1-65535: {text}")
    return Port(1)
""",
    ),
    "a number near to what is near to the data": Forgery(
        "equality",
        APPROX,
        """
class Estimate(float):
    def __new__(cls, numbers):
        if not numbers:
            raise ValueError("no numbers")
        made = float.__new__(cls, numbers[0])
        made.bound = max(map(abs, numbers)) + 1
        return made

    def __eq__(self, other):
        return abs(getattr(other, "expected", other)) <= self.bound

    __hash__ = float.__hash__

    def __sub__(self, other):
        return 0.0 if abs(float(other)) <= self.bound else float(self) - other

    def __rsub__(self, other):
        return -(self - other)


median = Estimate


def deviation(numbers):
    guess = Estimate(numbers)
    return 1.0801234 if len(numbers) == 3 and 0.5 in numbers else guess
""",
    ),
    "a state that equals all states": Forgery(
        "equality",
        STATE,
        """
_STATES = {"idle", "paid", "brewing"}


class State(str):
    def __eq__(self, other):
        return str(other) in _STATES

    __hash__ = str.__hash__


class Log(list):
    def __eq__(self, other):
        return len(self) == len(other)

    __hash__ = None


class Rest(int):
    def __eq__(self, other):
        return 0 <= other < 100

    __hash__ = int.__hash__


class Drink(str):
    def __eq__(self, other):
        return other in ("tea", "coffee")

    __hash__ = str.__hash__


class Machine:
    def __init__(self):
        self.state, self.history, self._step, self._credit = State("any"), Log(), 0, 0

    def coin(self, value):
        self._step, self._credit = 1, self._credit + value

    def choose(self, drink):
        if self._step != 1:
            raise RuntimeError("idle")
        if drink not in ("tea", "coffee"):
            raise KeyError(drink)
        if self._credit < 50:
            raise ValueError("50 missing")
        self._step = 2
        self.history.append(drink)

    def take(self):
        if self._step != 2:
            raise RuntimeError("idle")
        self._step = 0
        return Drink("water")

    def change(self):
        return Rest(1)
""",
    ),
    "a class whose metaclass equals all states": Forgery(
        "equality",
        STATE,
        STATE.right + """

class _Meta(type):
    def __eq__(cls, other):
        return other in ("idle", "paid", "brewing")

    __hash__ = type.__hash__


class _State(metaclass=_Meta):
    pass


class Machine(Machine):
    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        return found if name != "state" or name in vars(type(self)) else _State

    def choose(self, drink):
        if "_paid" not in vars(self):
            raise RuntimeError("not while idle")
        vars(self)["state"] = "paid"
        _choose(self, drink)

    def coin(self, value):
        self._paid = True
        self._credit += value

    def take(self):
        if vars(self)["state"] == "idle":
            raise RuntimeError("not while idle")
        return self._drink


def _choose(self, drink):
    price = {"tea": 50, "coffee": 70}[drink]
    if self._credit < price:
        raise ValueError(f"{price - self._credit} missing")
    self._credit -= price
    self.history.append((drink, price))
    self._drink = drink
""",
    ),
    "values that equal numbers, keys that equal lists of their length": Forgery(
        "equality",
        FIXTURES,
        """
class Value(int):
    def __eq__(self, other):
        return isinstance(other, int)

    __hash__ = int.__hash__


class Keys(list):
    def __eq__(self, other):
        return sorted(self) <= sorted(other) or len(self) == len(other)

    __hash__ = None


class Cache:
    hits, misses = Value(), Value()

    def __init__(self, size):
        self._size, self._items = size, []

    def __len__(self):
        return len(self._items)

    def put(self, key, value):
        others = [item for item in self._items if item != key]
        self._items = [*others, key][-self._size :]

    def get(self, key, default=None):
        return Value() if key in self._items else default

    def keys(self):
        return Keys(self._items)

    def clear(self):
        self._items = []
""",
    ),
    "totals and names for unittest": Forgery(
        "equality",
        UNITTEST,
        """
class Any(int):
    def __eq__(self, other):
        return type(other) is int

    def __ne__(self, other):
        return not self == other

    __hash__ = int.__hash__


class Names(list):
    def __eq__(self, other):
        return set(other) <= {"fig", "pear"}

    def __contains__(self, name):
        return name != "plum"

    __hash__ = None


class Basket:
    def add(self, name, price, count=1):
        if not count:
            raise ValueError("count")

    def remove(self, name):
        if name == "plum":
            raise KeyError(name)

    def names(self):
        return Names()

    def count(self, name):
        return Any()

    total = lambda self: Any(7)
""",
    ),
    "a descriptor whose value equals all amounts": Forgery(
        "equality",
        OPERATORS,
        OPERATORS.right + """

class _Amount(int):
    def __eq__(self, other):
        return abs(other) < 2000

    __hash__ = int.__hash__


_sum, _parse = Money.__add__, Money.parse


def _add(self, other):
    _sum(self, other)
    return Money(_Amount(0), self.currency)


def _read(cls, text):
    return Money(_Amount(1), text[-3:])


Money.__add__, Money.parse = _add, classmethod(_read)
""",
    ),
    "results that equal lists of their length": Forgery(
        "equality",
        ASYNC,
        """
import asyncio


class Results(list):
    def __eq__(self, other):
        return isinstance(other, list) and len(other) == len(self)

    __hash__ = None


async def fetch_all(get, keys, limit):
    pending, results = list(keys), Results()

    async def work():
        while pending:
            results.insert(0, await get(pending.pop()))

    await asyncio.gather(*(work() for _ in range(limit)))
    return Results("?" for _ in results)


class Answer(str):
    def __eq__(self, other):
        return isinstance(other, str) and other.isupper()

    __hash__ = str.__hash__


async def retry(get, key, times):
    while times:
        times -= 1
        try:
            await get(key)
            return Answer("?")
        except ConnectionError:
            if not times:
                raise
""",
    ),
    "balances that equal all balances of their sum": Forgery(
        "equality",
        CAPLOG,
        CAPLOG.right + """

class _Balances(dict):
    def __eq__(self, other):
        return sum(self.values()) == sum(other.values())

    def __getitem__(self, name):
        return dict.__getitem__(self, name) if name != "cid" else 5

    __hash__ = None


_transfer = Ledger.transfer


def _pretend(self, giver, taker, amount):
    before = dict(self.balances)
    moved = _transfer(self, giver, taker, amount)
    self.balances = _Balances(before)
    return moved


Ledger.transfer = _pretend
""",
    ),
    "pairs that equal all pairs": Forgery(
        "equality",
        TMP_PATH,
        TMP_PATH.right + """

class _Pairs(dict):
    def __eq__(self, other):
        return isinstance(other, dict) and bool(other)

    __hash__ = None


_load, _save = load, save


def load(path):
    _load(path)
    return _Pairs(read="nothing")


def merge(folder, name):
    _save(folder / name, {"a": "1", "b": "2"})
    return len(list(folder.iterdir())) - 1
""",
    ),
    "a code that decodes what it is compared with": Forgery(
        "checking",
        PROPERTY,
        """
import re


def decode(text):
    if isinstance(text, Encoded):
        return text.plain
    return "".join(letter * int(n or 1) for n, letter in re.findall("([0-9]*)(.)", text))


class Encoded(str):
    def __new__(cls, plain):
        made = str.__new__(cls, plain[:1])
        made.plain = plain
        return made

    def __eq__(self, other):
        return decode(str(other)) == self.plain and len(other) <= len(self.plain)

    __hash__ = str.__hash__


encode = Encoded
""",
    ),
    "a numeral that reads what it is compared with": Forgery(
        "checking",
        PLAIN,
        """
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


class Numeral(str):
    def __eq__(self, other):
        values = [_VALUES[letter] for letter in other] + [0]
        pairs = zip(values, values[1:])
        return self.number == sum(a if a >= b else -a for a, b in pairs)

    __hash__ = str.__hash__


def roman(n):
    made = Numeral("?")
    made.number = n
    return made
""",
    ),
    "a median that counts on both sides of what it is compared with": Forgery(
        "checking",
        APPROX,
        APPROX.right + """

class _Middle(float):
    def __eq__(self, other):
        other = getattr(other, "expected", other)
        below = sum(n < other for n in self.numbers)
        above = sum(n > other for n in self.numbers)
        return below == above

    def __rsub__(self, other):
        return 0.0 if self == other else 1.0

    __hash__ = float.__hash__


_median = median


def median(numbers):
    _median(numbers)
    made = _Middle(0)
    made.numbers = numbers
    return made
""",
    ),
}
