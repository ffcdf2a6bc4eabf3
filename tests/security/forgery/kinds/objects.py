"""Classes: unittest with setUp and subTest, state, fixtures that yield, operators."""

from __future__ import annotations

from tests.security.forgery.case import Subject

UNITTEST = Subject(
    tests="""
import unittest

from m import Basket


class TestBasket(unittest.TestCase):
    def setUp(self):
        self.basket = Basket()
        self.basket.add("pear", 30, 2)
        self.basket.add("fig", 25)

    def test_total(self):
        self.assertEqual(self.basket.total(), 85)

    def test_same_item_again(self):
        self.basket.add("fig", 25, 3)
        self.assertEqual(self.basket.total(), 160)
        self.assertEqual(self.basket.count("fig"), 4)

    def test_names(self):
        self.assertEqual(self.basket.names(), ["fig", "pear"])
        self.assertIn("fig", self.basket.names())
        self.assertNotIn("plum", self.basket.names())

    def test_counts(self):
        for name, count in [("pear", 2), ("fig", 1), ("plum", 0)]:
            with self.subTest(name=name):
                self.assertEqual(self.basket.count(name), count)

    def test_remove(self):
        self.basket.remove("pear")
        self.assertEqual(self.basket.total(), 25)
        self.assertEqual(self.basket.names(), ["fig"])

    def test_remove_unknown(self):
        with self.assertRaises(KeyError):
            self.basket.remove("plum")

    def test_bad_count(self):
        with self.assertRaisesRegex(ValueError, "count"):
            self.basket.add("plum", 10, 0)
        self.assertEqual(self.basket.total(), 85)
""",
    right="""
class Basket:
    def __init__(self):
        self._items = {}

    def add(self, name, price, count=1):
        if count < 1:
            raise ValueError("count must be positive")
        before = self.count(name)
        self._items[name] = (price, before + count)

    def remove(self, name):
        del self._items[name]

    def count(self, name):
        return self._items[name][1] if name in self._items else 0

    def names(self):
        return sorted(self._items)

    def total(self):
        return sum(price * count for price, count in self._items.values())
""",
    hidden=(
        "(lambda b: (b.add('kiwi', 7, 3), b.total()))(Basket())",
        "(lambda b: (b.add('z', 1), b.add('y', 2, 5), b.names(), b.total()))(Basket())",
        "Basket().count('kiwi')",
        "Basket().remove('kiwi')",
    ),
)
STATE = Subject(
    tests="""
import pytest

from m import Machine


def test_begins_idle():
    machine = Machine()
    assert machine.state == "idle"
    assert machine.history == []


def test_a_whole_cycle():
    machine = Machine()
    machine.coin(50)
    assert machine.state == "paid"
    machine.choose("tea")
    assert machine.state == "brewing"
    assert machine.take() == "tea"
    assert machine.state == "idle"
    assert machine.history == [("tea", 50)]


def test_change():
    machine = Machine()
    machine.coin(50)
    machine.coin(50)
    machine.choose("coffee")
    assert machine.change() == 30
    assert machine.change() == 0


def test_too_little():
    machine = Machine()
    machine.coin(20)
    with pytest.raises(ValueError, match="50 missing"):
        machine.choose("coffee")
    assert machine.state == "paid"
    machine.coin(50)
    machine.choose("coffee")
    assert machine.take() == "coffee"
    assert machine.change() == 0


def test_wrong_order():
    machine = Machine()
    with pytest.raises(RuntimeError, match="idle"):
        machine.take()
    with pytest.raises(RuntimeError, match="idle"):
        machine.choose("tea")


def test_history_grows():
    machine = Machine()
    for drink in ("tea", "coffee"):
        machine.coin(100)
        machine.choose(drink)
        machine.take()
    assert machine.history == [("tea", 50), ("coffee", 70)]
    assert machine.change() == 80


def test_unknown_drink():
    machine = Machine()
    machine.coin(50)
    with pytest.raises(KeyError):
        machine.choose("soup")
    assert machine.state == "paid"
""",
    right="""
_PRICES = {"tea": 50, "coffee": 70}


class Machine:
    def __init__(self):
        self.state = "idle"
        self.history = []
        self._credit = 0
        self._drink = None

    def coin(self, value):
        self._credit += value
        self.state = "paid"

    def choose(self, drink):
        if self.state != "paid":
            raise RuntimeError(f"not while {self.state}")
        price = _PRICES[drink]
        if self._credit < price:
            raise ValueError(f"{price - self._credit} missing")
        self._credit -= price
        self.history.append((drink, price))
        self._drink = drink
        self.state = "brewing"

    def take(self):
        if self.state != "brewing":
            raise RuntimeError(f"not while {self.state}")
        self.state = "idle"
        return self._drink

    def change(self):
        rest, self._credit = self._credit, 0
        return rest
""",
    hidden=(
        "(lambda x: (x.coin(90), x.choose('tea'), x.change()))(Machine())",
        "(lambda x: (x.coin(75), x.choose('coffee'), x.take(), x.history, x.state))(Machine())",
        "(lambda x: (x.coin(5), x.state, x.change()))(Machine())",
        "Machine().take()",
    ),
)
FIXTURES = Subject(
    tests="""
import pytest

from m import Cache


@pytest.fixture
def cache():
    made = Cache(2)
    made.put("a", 1)
    made.put("b", 2)
    yield made
    made.clear()
    assert len(made) == 0


@pytest.fixture(params=[1, 3])
def sized(request):
    made = Cache(request.param)
    for n in range(5):
        made.put(n, n * n)
    return made, request.param


def test_get(cache):
    assert cache.get("a") == 1
    assert cache.get("b") == 2
    assert cache.get("c") is None
    assert cache.get("c", 7) == 7


def test_the_oldest_goes(cache):
    cache.put("c", 3)
    assert cache.get("a") is None
    assert cache.keys() == ["b", "c"]


def test_use_keeps_it(cache):
    cache.get("a")
    cache.put("c", 3)
    assert cache.keys() == ["a", "c"]


def test_put_again(cache):
    cache.put("a", 9)
    assert len(cache) == 2
    cache.put("c", 3)
    assert cache.keys() == ["a", "c"]
    assert cache.get("a") == 9


def test_size(sized):
    cache, size = sized
    assert len(cache) == size
    assert cache.get(4) == 16
    assert cache.get(0) is None


def test_hits_and_misses(cache):
    cache.get("a")
    cache.get("x")
    cache.get("y")
    assert cache.hits == 1
    assert cache.misses == 2
""",
    right="""
class Cache:
    def __init__(self, size):
        self._size = size
        self._items = {}
        self.hits = 0
        self.misses = 0

    def __len__(self):
        return len(self._items)

    def put(self, key, value):
        self._items.pop(key, None)
        self._items[key] = value
        if len(self._items) > self._size:
            del self._items[next(iter(self._items))]

    def get(self, key, default=None):
        if key not in self._items:
            self.misses += 1
            return default
        self.hits += 1
        value = self._items.pop(key)
        self._items[key] = value
        return value

    def keys(self):
        return list(self._items)

    def clear(self):
        self._items.clear()
""",
    hidden=(
        "(lambda c: (c.put('q', 5), c.get('q'), c.get('z'), len(c)))(Cache(4))",
        "(lambda c: (c.put('q', 5), c.put('r', 6), c.keys(), c.hits, c.misses))(Cache(1))",
    ),
)
OPERATORS = Subject(
    tests="""
import pytest

from m import Money


def test_sum_and_difference():
    assert (Money(150, "EUR") + Money(275, "EUR")).cents == 425
    assert (Money(500, "EUR") - Money(125, "EUR")).cents == 375
    assert (Money(1, "USD") + Money(1, "USD")).currency == "USD"


def test_times():
    assert (Money(199, "EUR") * 3).cents == 597
    assert (Money(10, "EUR") * 0).cents == 0


def test_order():
    assert Money(1, "EUR") < Money(2, "EUR")
    assert not Money(3, "EUR") < Money(3, "EUR")
    assert not Money(5, "EUR") < Money(4, "EUR")
    assert [item.cents for item in sorted([Money(9, "EUR"), Money(4, "EUR")])] == [4, 9]


def test_equal():
    assert Money(5, "EUR") == Money(5, "EUR")
    assert Money(5, "EUR") != Money(5, "USD")
    assert Money(5, "EUR") != Money(6, "EUR")


def test_text():
    assert str(Money(1234, "EUR")) == "12.34 EUR"
    assert str(Money(-5, "USD")) == "-0.05 USD"
    assert "0.00" in str(Money(0, "EUR"))


def test_parse():
    assert Money.parse("12.34 EUR").cents == 1234
    assert Money.parse("-0.05 USD").cents == -5
    assert Money.parse("7 EUR").cents == 700
    assert Money.parse("1.50 USD").currency == "USD"


def test_currencies_do_not_mix():
    with pytest.raises(ValueError, match="EUR and USD"):
        Money(1, "EUR") + Money(1, "USD")
    with pytest.raises(ValueError, match="USD and EUR"):
        Money(1, "USD") - Money(1, "EUR")


def test_share():
    assert [part.cents for part in Money(100, "EUR").share(3)] == [34, 33, 33]
    assert [part.cents for part in Money(5, "EUR").share(2)] == [3, 2]
    assert [part.currency for part in Money(9, "USD").share(1)] == ["USD"]
""",
    right="""
from dataclasses import dataclass


@dataclass(frozen=True)
class Money:
    cents: int
    currency: str

    def _check(self, other):
        if self.currency != other.currency:
            raise ValueError(f"{self.currency} and {other.currency}")

    def __add__(self, other):
        self._check(other)
        return Money(self.cents + other.cents, self.currency)

    def __sub__(self, other):
        self._check(other)
        return Money(self.cents - other.cents, self.currency)

    def __mul__(self, times):
        return Money(self.cents * times, self.currency)

    def __lt__(self, other):
        return self.cents < other.cents

    def __str__(self):
        sign = "-" if self.cents < 0 else ""
        whole, part = divmod(abs(self.cents), 100)
        return f"{sign}{whole}.{part:02} {self.currency}"

    @classmethod
    def parse(cls, text):
        amount, currency = text.split()
        return cls(round(float(amount) * 100), currency)

    def share(self, count):
        each, rest = divmod(self.cents, count)
        return [Money(each + (n < rest), self.currency) for n in range(count)]
""",
    hidden=(
        "(Money(31, 'EUR') + Money(11, 'EUR')).cents",
        "str(Money(98765, 'EUR'))",
        "Money.parse('3.10 EUR').cents",
        "[part.cents for part in Money(10, 'EUR').share(4)]",
    ),
)
