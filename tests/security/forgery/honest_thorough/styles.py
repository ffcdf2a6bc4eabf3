"""Modules and suites in the styles of different people: mocks, fakes, classes, tables, unittest."""

from __future__ import annotations

from tests.security.forgery.case import Odd

THOROUGH = {
    "a cache with a time limit and a fake clock": Odd(
        '''
"""A cache with a time limit and a maximal size."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Any, Callable, Hashable


class CacheStats:
    """Counts of a cache."""

    __slots__ = ("hits", "misses", "evictions")

    def __init__(self) -> None:
        self.hits = 0
        self.misses = 0
        self.evictions = 0

    @property
    def hit_rate(self) -> float:
        total = self.hits + self.misses
        return self.hits / total if total else 0.0


class TTLCache:
    """Least recently used items go first; items older than `ttl` seconds are gone."""

    def __init__(self, max_size: int, ttl: float, clock: Callable[[], float] = time.monotonic):
        if max_size < 1:
            raise ValueError("max_size must be at least 1")
        if ttl <= 0:
            raise ValueError("ttl must be positive")
        self._max_size = max_size
        self._ttl = ttl
        self._clock = clock
        self._items: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()
        self.stats = CacheStats()

    def put(self, key: Hashable, value: Any) -> None:
        self._items.pop(key, None)
        self._items[key] = (self._clock() + self._ttl, value)
        while len(self._items) > self._max_size:
            self._items.popitem(last=False)
            self.stats.evictions += 1

    def get(self, key: Hashable, default: Any = None) -> Any:
        if key in self._items:
            expires, value = self._items[key]
            if self._clock() < expires:
                self._items.move_to_end(key)
                self.stats.hits += 1
                return value
            del self._items[key]
        self.stats.misses += 1
        return default

    def purge(self) -> int:
        """Drop what has expired and return how many items that were."""
        now = self._clock()
        old = [key for key, (expires, _) in self._items.items() if expires <= now]
        for key in old:
            del self._items[key]
        return len(old)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._items and self._clock() < self._items[key][0]

    def __repr__(self) -> str:
        return f"TTLCache({len(self)}/{self._max_size})"
''',
        """
import pytest

from m import CacheStats, TTLCache


class FakeClock:
    def __init__(self, now=0.0):
        self.now = now

    def __call__(self):
        return self.now

    def advance(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return FakeClock(100.0)


@pytest.fixture
def cache(clock):
    return TTLCache(max_size=2, ttl=10, clock=clock)


class TestGet:
    def test_returns_stored_value(self, cache):
        cache.put("a", 1)
        assert cache.get("a") == 1

    def test_missing_key_gives_default(self, cache):
        assert cache.get("zzz") is None
        assert cache.get("zzz", "fallback") == "fallback"

    def test_expired_item_is_gone(self, cache, clock):
        cache.put("a", 1)
        clock.advance(10)
        assert cache.get("a") is None
        assert len(cache) == 0

    def test_just_before_expiry(self, cache, clock):
        cache.put("a", 1)
        clock.advance(9.999)
        assert cache.get("a") == 1

    def test_put_renews_expiry(self, cache, clock):
        cache.put("a", 1)
        clock.advance(8)
        cache.put("a", 2)
        clock.advance(8)
        assert cache.get("a") == 2


class TestEviction:
    def test_least_recently_used_goes_first(self, cache):
        cache.put("a", 1)
        cache.put("b", 2)
        cache.get("a")
        cache.put("c", 3)
        assert "a" in cache
        assert "b" not in cache
        assert "c" in cache
        assert cache.stats.evictions == 1

    def test_overwriting_does_not_evict(self, cache):
        cache.put("a", 1)
        cache.put("b", 2)
        cache.put("a", 3)
        assert len(cache) == 2
        assert cache.stats.evictions == 0


class TestPurge:
    def test_counts_removed(self, cache, clock):
        cache.put("a", 1)
        clock.advance(5)
        cache.put("b", 2)
        clock.advance(5)
        assert cache.purge() == 1
        assert len(cache) == 1
        assert cache.get("b") == 2

    def test_nothing_to_purge(self, cache):
        cache.put("a", 1)
        assert cache.purge() == 0


class TestStats:
    def test_fresh(self):
        stats = CacheStats()
        assert (stats.hits, stats.misses, stats.evictions) == (0, 0, 0)
        assert stats.hit_rate == 0.0

    def test_rate(self, cache):
        cache.put("a", 1)
        for _ in range(3):
            cache.get("a")
        cache.get("b")
        assert cache.stats.hits == 3
        assert cache.stats.misses == 1
        assert cache.stats.hit_rate == pytest.approx(0.75)


@pytest.mark.parametrize(
    "kwargs, message",
    [({"max_size": 0, "ttl": 1}, "max_size"), ({"max_size": 1, "ttl": 0}, "ttl")],
    ids=["size", "ttl"],
)
def test_bad_arguments(kwargs, message):
    with pytest.raises(ValueError, match=message):
        TTLCache(**kwargs)


def test_contains_respects_expiry(cache, clock):
    cache.put("k", 0)
    assert "k" in cache
    clock.advance(11)
    assert "k" not in cache


def test_repr(cache):
    cache.put("a", 1)
    assert repr(cache) == "TTLCache(1/2)"
""",
    ),
    "money in Decimal, ordered": Odd(
        '''
"""Amounts of money in one currency."""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from functools import total_ordering

_CENT = Decimal("0.01")


class CurrencyMismatch(TypeError):
    """Two amounts of different currencies were combined."""

    def __init__(self, left, right):
        super().__init__(f"cannot combine {left} with {right}")
        self.left = left
        self.right = right


@total_ordering
@dataclass(frozen=True)
class Money:
    amount: Decimal
    currency: str = "EUR"

    def __post_init__(self):
        if not isinstance(self.amount, Decimal):
            object.__setattr__(self, "amount", Decimal(str(self.amount)))
        if len(self.currency) != 3 or not self.currency.isupper():
            raise ValueError(f"bad currency {self.currency!r}")

    def _same(self, other):
        if self.currency != other.currency:
            raise CurrencyMismatch(self.currency, other.currency)

    def __add__(self, other):
        self._same(other)
        return Money(self.amount + other.amount, self.currency)

    def __sub__(self, other):
        self._same(other)
        return Money(self.amount - other.amount, self.currency)

    def __mul__(self, factor):
        return Money(self.amount * Decimal(str(factor)), self.currency)

    __rmul__ = __mul__

    def __neg__(self):
        return Money(-self.amount, self.currency)

    def __lt__(self, other):
        self._same(other)
        return self.amount < other.amount

    def __str__(self):
        return f"{self.rounded().amount} {self.currency}"

    def rounded(self, half_even=False):
        mode = ROUND_HALF_EVEN if half_even else ROUND_HALF_UP
        return Money(self.amount.quantize(_CENT, rounding=mode), self.currency)

    def allocate(self, *ratios):
        """Divide the cents by ratios; what is left goes to the first parts, a cent each."""
        if not ratios or any(r < 0 for r in ratios) or sum(ratios) == 0:
            raise ValueError("bad ratios")
        cents = int(self.rounded().amount * 100)
        total = sum(ratios)
        parts = [cents * r // total for r in ratios]
        for i in range(cents - sum(parts)):
            parts[i] += 1
        return [Money(Decimal(p) / 100, self.currency) for p in parts]

    @classmethod
    def parse(cls, text):
        try:
            amount, currency = text.split()
            return cls(Decimal(amount.replace(",", "")), currency)
        except (ValueError, InvalidOperation) as error:
            raise ValueError(f"no amount: {text!r}") from error
''',
        """
import unittest
from decimal import Decimal

from m import CurrencyMismatch, Money


def eur(text):
    return Money(Decimal(text), "EUR")


class ArithmeticTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ten = eur("10")
        cls.three = eur("3.50")

    def test_add(self):
        self.assertEqual(self.ten + self.three, eur("13.50"))

    def test_sub(self):
        self.assertEqual((self.ten - self.three).amount, Decimal("6.50"))

    def test_mul(self):
        self.assertEqual((self.three * 2).amount, Decimal("7.00"))
        self.assertEqual((2 * self.three).amount, Decimal("7.00"))
        self.assertEqual((self.ten * 0.1).amount, Decimal("1.0"))

    def test_neg(self):
        self.assertEqual((-self.ten).amount, Decimal("-10"))

    def test_mixed_currencies(self):
        with self.assertRaises(CurrencyMismatch) as caught:
            self.ten + Money(1, "USD")
        self.assertEqual(caught.exception.left, "EUR")
        self.assertEqual(caught.exception.right, "USD")
        self.assertEqual(str(caught.exception), "cannot combine EUR with USD")
        with self.assertRaises(CurrencyMismatch):
            self.ten - Money(1, "USD")
        with self.assertRaises(TypeError):
            self.ten < Money(1, "USD")


class OrderTest(unittest.TestCase):
    def test_less(self):
        self.assertTrue(eur("1") < eur("2"))
        self.assertFalse(eur("2") < eur("2"))
        self.assertLessEqual(eur("2"), eur("2"))
        self.assertGreater(eur("3"), eur("2"))

    def test_sorted(self):
        amounts = [eur("5"), eur("-1"), eur("2")]
        self.assertEqual([str(m) for m in sorted(amounts)], ["-1.00 EUR", "2.00 EUR", "5.00 EUR"])

    def test_equal(self):
        self.assertEqual(eur("1.0"), eur("1.00"))
        self.assertNotEqual(eur("1"), Money(1, "USD"))
        self.assertEqual(len({eur("1.0"), eur("1.00")}), 1)


class RoundingTest(unittest.TestCase):
    def test_half_up(self):
        for text, wanted in (("1.005", "1.01"), ("1.004", "1.00"), ("-1.005", "-1.01")):
            with self.subTest(text=text):
                self.assertEqual(eur(text).rounded().amount, Decimal(wanted))

    def test_half_even(self):
        self.assertEqual(eur("1.005").rounded(half_even=True).amount, Decimal("1.00"))
        self.assertEqual(eur("1.015").rounded(half_even=True).amount, Decimal("1.02"))

    def test_text(self):
        self.assertEqual(str(eur("2.5")), "2.50 EUR")


class AllocateTest(unittest.TestCase):
    def amounts(self, parts):
        return [str(part.amount) for part in parts]

    def test_even(self):
        self.assertEqual(self.amounts(eur("1").allocate(1, 1)), ["0.5", "0.5"])

    def test_rest_goes_to_first(self):
        self.assertEqual(self.amounts(eur("0.05").allocate(1, 1)), ["0.03", "0.02"])
        self.assertEqual(self.amounts(eur("1").allocate(1, 1, 1)), ["0.34", "0.33", "0.33"])

    def test_ratios(self):
        self.assertEqual(self.amounts(eur("10").allocate(7, 3)), ["7", "3"])

    def test_zero_ratio(self):
        self.assertEqual(self.amounts(eur("1").allocate(0, 1)), ["0", "1"])

    def test_bad(self):
        for ratios in ((), (0, 0), (-1, 2)):
            with self.subTest(ratios=ratios), self.assertRaisesRegex(ValueError, "ratios"):
                eur("1").allocate(*ratios)


class ParseTest(unittest.TestCase):
    def test_good(self):
        self.assertEqual(Money.parse("1,234.50 USD"), Money(Decimal("1234.50"), "USD"))
        self.assertEqual(Money.parse("7 EUR").currency, "EUR")

    def test_bad(self):
        for text in ("", "7", "x EUR", "1 2 3", "5 eur"):
            with self.subTest(text=text):
                with self.assertRaises(ValueError):
                    Money.parse(text)

    def test_default_currency(self):
        self.assertEqual(Money(3).currency, "EUR")
        self.assertEqual(Money(3).amount, Decimal("3"))


if __name__ == "__main__":
    unittest.main()
""",
    ),
    "a tokenizer and a parser": Odd(
        '''
"""A tokenizer and an evaluator for arithmetic."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Iterator, NamedTuple


class Kind(Enum):
    NUMBER = auto()
    NAME = auto()
    OPERATOR = auto()
    OPEN = auto()
    CLOSE = auto()


class Token(NamedTuple):
    kind: Kind
    text: str
    position: int


class ParseError(ValueError):
    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} at {position}")
        self.position = position


_PATTERN = re.compile(
    r"(?P<NUMBER>\\d+(?:\\.\\d+)?)|(?P<NAME>[a-z]+)|(?P<OPERATOR>\\*\\*|[-+*/])|(?P<OPEN>\\()|(?P<CLOSE>\\))"
)


def tokenize(text: str) -> Iterator[Token]:
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        match = _PATTERN.match(text, position)
        if match is None:
            raise ParseError(f"unexpected {text[position]!r}", position)
        yield Token(Kind[match.lastgroup], match.group(), position)
        position = match.end()


class _Parser:
    def __init__(self, text: str, names: dict[str, float]) -> None:
        self._tokens = list(tokenize(text))
        self._names = names
        self._at = 0
        self._end = len(text)

    def _peek(self) -> str:
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def _next(self) -> Token:
        if self._at == len(self._tokens):
            raise ParseError("unexpected end", self._end)
        self._at += 1
        return self._tokens[self._at - 1]

    def parse(self) -> float:
        value = self._sum()
        if self._at < len(self._tokens):
            token = self._tokens[self._at]
            raise ParseError(f"unexpected {token.text!r}", token.position)
        return value

    def _sum(self) -> float:
        value = self._product()
        while self._peek() in ("+", "-"):
            if self._next().text == "+":
                value += self._product()
            else:
                value -= self._product()
        return value

    def _product(self) -> float:
        value = self._power()
        while self._peek() in ("*", "/"):
            if self._next().text == "*":
                value *= self._power()
            else:
                value /= self._power()
        return value

    def _power(self) -> float:
        if self._peek() == "-":
            self._next()
            return -self._power()
        base = self._atom()
        if self._peek() == "**":
            self._next()
            return base ** self._power()
        return base

    def _atom(self) -> float:
        token = self._next()
        if token.kind is Kind.NUMBER:
            return float(token.text)
        if token.kind is Kind.NAME:
            if token.text not in self._names:
                raise ParseError(f"unknown name {token.text}", token.position)
            return self._names[token.text]
        if token.kind is Kind.OPEN:
            value = self._sum()
            if self._next().kind is not Kind.CLOSE:
                raise ParseError("expected )", token.position)
            return value
        raise ParseError(f"unexpected {token.text!r}", token.position)


def evaluate(text: str, **names: float) -> float:
    """Return the value of an expression."""
    return _Parser(text, names).parse()
''',
        """
import pytest

from m import Kind, ParseError, Token, evaluate, tokenize

EXAMPLES = {
    "sum": ("1 + 2", 3),
    "left": ("10 - 3 - 2", 5),
    "precedence": ("2 + 3 * 4", 14),
    "parentheses": ("(2 + 3) * 4", 20),
    "power": ("2 ** 3 ** 2", 512),
    "minus": ("-2 ** 2", -4),
    "division": ("7 / 2", 3.5),
    "float": ("0.1 + 0.2", 0.3),
}


@pytest.fixture
def names(request):
    return dict(request.param)


@pytest.mark.parametrize("text, expected", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_evaluate(text, expected):
    assert evaluate(text) == pytest.approx(expected)


@pytest.mark.parametrize("names, expected", [([("x", 2.0)], 5.0), ([("x", -1.0)], 2.0)], indirect=["names"])
def test_names(names, expected):
    assert evaluate("x + 3", **names) == expected


@pytest.mark.parametrize("space", ["", " ", "  "])
@pytest.mark.parametrize("left, right, total", [("1", "2", 3), ("40", "2", 42)])
def test_white_space(left, right, total, space):
    assert evaluate(f"{left}{space}+{space}{right}") == total


def test_tokens():
    assert list(tokenize("a1+")) == [
        Token(Kind.NAME, "a", 0),
        Token(Kind.NUMBER, "1", 1),
        Token(Kind.OPERATOR, "+", 2),
    ]


def test_token_kinds():
    kinds = [token.kind for token in tokenize("(x ** 2.5)")]
    assert kinds == [Kind.OPEN, Kind.NAME, Kind.OPERATOR, Kind.NUMBER, Kind.CLOSE]
    assert [t.position for t in tokenize("  7  8")] == [2, 5]


def test_no_tokens():
    assert list(tokenize("   ")) == []


@pytest.mark.parametrize(
    "text, position, message",
    [
        ("1 +", 3, "unexpected end"),
        ("1 $ 2", 2, "unexpected"),
        ("(1", 2, "unexpected end"),
        ("1 2", 2, "unexpected '2'"),
        ("y", 0, "unknown name y"),
        (") 1", 0, "unexpected"),
        ("(1 2)", 0, "expected"),
    ],
)
def test_errors(text, position, message):
    with pytest.raises(ParseError, match=message) as info:
        evaluate(text)
    assert info.value.position == position


def test_parse_error_is_a_value_error():
    assert issubclass(ParseError, ValueError)
    with pytest.raises(ValueError):
        evaluate("")


def test_division_by_zero():
    with pytest.raises(ZeroDivisionError):
        evaluate("1 / 0")
""",
    ),
    "a repository in SQLite": Odd(
        '''
"""Tasks in a SQLite data base."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Iterator


@dataclass
class Task:
    id: int
    title: str
    done: bool = False
    priority: int = 0


class NotFound(LookupError):
    pass


class Tasks:
    def __init__(self, path: str = ":memory:") -> None:
        self._db = sqlite3.connect(path)
        self._db.row_factory = sqlite3.Row
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS task (id INTEGER PRIMARY KEY, title TEXT NOT NULL,"
            " done INTEGER NOT NULL DEFAULT 0, priority INTEGER NOT NULL DEFAULT 0)"
        )

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            yield self._db
        except BaseException:
            self._db.rollback()
            raise
        self._db.commit()

    def add(self, title: str, priority: int = 0) -> Task:
        title = title.strip()
        if not title:
            raise ValueError("a task needs a title")
        with self.transaction() as db:
            cursor = db.execute(
                "INSERT INTO task (title, priority) VALUES (?, ?)", (title, priority)
            )
        return self.get(cursor.lastrowid)

    def get(self, number: int) -> Task:
        row = self._db.execute("SELECT * FROM task WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise NotFound(f"no task {number}")
        return Task(row["id"], row["title"], bool(row["done"]), row["priority"])

    def finish(self, number: int) -> None:
        with self.transaction() as db:
            changed = db.execute("UPDATE task SET done = 1 WHERE id = ?", (number,)).rowcount
        if not changed:
            raise NotFound(f"no task {number}")

    def pending(self) -> list[Task]:
        rows = self._db.execute(
            "SELECT id FROM task WHERE done = 0 ORDER BY priority DESC, id"
        ).fetchall()
        return [self.get(row["id"]) for row in rows]

    def remove_finished(self) -> int:
        with self.transaction() as db:
            return db.execute("DELETE FROM task WHERE done = 1").rowcount

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> "Tasks":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
''',
        """
import sqlite3

import pytest

from m import NotFound, Task, Tasks


@pytest.fixture
def tasks():
    repository = Tasks()
    yield repository
    repository.close()


@pytest.fixture
def filled(tasks):
    tasks.add("wash", priority=1)
    tasks.add("cook", priority=5)
    tasks.add("sleep")
    return tasks


def titles(tasks):
    return [task.title for task in tasks.pending()]


def test_add_returns_task(tasks):
    assert tasks.add("  read ") == Task(1, "read", False, 0)
    assert tasks.add("write", priority=3).priority == 3


@pytest.mark.parametrize("title", ["", "   "])
def test_add_needs_title(tasks, title):
    with pytest.raises(ValueError, match="title"):
        tasks.add(title)
    assert tasks.pending() == []


def test_get(filled):
    task = filled.get(2)
    assert task.title == "cook"
    assert not task.done


def test_get_unknown(tasks):
    with pytest.raises(NotFound) as info:
        tasks.get(9)
    assert str(info.value) == "no task 9"


def test_pending_by_priority(filled):
    assert titles(filled) == ["cook", "wash", "sleep"]


def test_finish(filled):
    filled.finish(2)
    assert titles(filled) == ["wash", "sleep"]
    assert filled.get(2).done is True


def test_finish_unknown(tasks):
    with pytest.raises(NotFound, match="no task 1"):
        tasks.finish(1)


def test_remove_finished(filled):
    filled.finish(1)
    filled.finish(3)
    assert filled.remove_finished() == 2
    assert filled.remove_finished() == 0
    with pytest.raises(NotFound):
        filled.get(1)


def test_transaction_rolls_back(filled):
    with pytest.raises(RuntimeError):
        with filled.transaction() as db:
            db.execute("DELETE FROM task")
            raise RuntimeError("stop")
    assert len(filled.pending()) == 3


def test_file_is_kept(tmp_path):
    path = str(tmp_path / "tasks.db")
    with Tasks(path) as first:
        first.add("stay")
    with Tasks(path) as second:
        assert titles(second) == ["stay"]


def test_closed(tmp_path):
    with Tasks(str(tmp_path / "x.db")) as closed:
        pass
    with pytest.raises(sqlite3.ProgrammingError):
        closed.pending()
""",
    ),
    "a command with argparse and CSV": Odd(
        '''
"""Sum a column of a CSV file by the values of another."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Sequence


def group_sum(rows, key, value):
    """Return the sums by key, sorted by key; rows without a number count nothing."""
    sums = defaultdict(float)
    for row in rows:
        try:
            sums[row[key]] += float(row[value])
        except ValueError:
            continue
    return dict(sorted(sums.items()))


def read_rows(path, delimiter=","):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def format_table(sums):
    width = max(map(len, sums), default=0)
    return "\\n".join(f"{key:<{width}}  {total:10.2f}" for key, total in sums.items())


def build_parser():
    parser = argparse.ArgumentParser(prog="groupsum", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("-k", "--key", required=True)
    parser.add_argument("-v", "--value", default="amount")
    parser.add_argument("--delimiter", default=",")
    parser.add_argument("--json", action="store_true")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(argv)
    try:
        rows = read_rows(options.file, options.delimiter)
    except FileNotFoundError:
        print(f"groupsum: no such file: {options.file.name}", file=sys.stderr)
        return 1
    try:
        sums = group_sum(rows, options.key, options.value)
    except KeyError as error:
        print(f"groupsum: no such column: {error.args[0]}", file=sys.stderr)
        return 2
    print(json.dumps(sums) if options.json else format_table(sums))
    return 0


if __name__ == "__main__":
    sys.exit(main())
''',
        """
import json

import pytest

import m
from m import build_parser, format_table, group_sum, main, read_rows

CONTENT = "name,amount,city\\nann,1.5,Rome\\nbob,2,Oslo\\nann,3,Oslo\\ncid,x,Rome\\n"


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(CONTENT, encoding="utf-8")
    return path


class TestGroupSum:
    def test_sums(self):
        rows = [{"a": "x", "n": "1"}, {"a": "y", "n": "2"}, {"a": "x", "n": "0.5"}]
        assert group_sum(rows, "a", "n") == {"x": 1.5, "y": 2.0}

    def test_sorted_by_key(self):
        rows = [{"a": "b", "n": "1"}, {"a": "a", "n": "1"}]
        assert list(group_sum(rows, "a", "n")) == ["a", "b"]

    def test_not_a_number(self):
        assert group_sum([{"a": "x", "n": "?"}], "a", "n") == {"x": 0.0}

    def test_empty(self):
        assert group_sum([], "a", "n") == {}


class TestReadRows:
    def test_rows(self, data):
        rows = read_rows(data)
        assert len(rows) == 4
        assert rows[0] == {"name": "ann", "amount": "1.5", "city": "Rome"}

    def test_delimiter(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text("a;b\\n1;2\\n")
        assert read_rows(path, ";") == [{"a": "1", "b": "2"}]


class TestFormatTable:
    def test_aligned(self):
        assert format_table({"a": 1, "long": 22.5}) == "a           1.00\\nlong       22.50"

    def test_empty(self):
        assert format_table({}) == ""


class TestMain:
    def test_table(self, data, capsys):
        assert main([str(data), "--key", "name"]) == 0
        out, err = capsys.readouterr()
        assert out.splitlines() == ["ann        4.50", "bob        2.00", "cid        0.00"]
        assert err == ""

    def test_json(self, data, capsys):
        assert main([str(data), "-k", "city", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"Oslo": 5.0, "Rome": 1.5}

    def test_missing_file(self, tmp_path, capsys):
        assert main([str(tmp_path / "none.csv"), "-k", "x"]) == 1
        assert capsys.readouterr().err == "groupsum: no such file: none.csv\\n"

    def test_missing_column(self, data, capsys):
        assert main([str(data), "-k", "zip"]) == 2
        assert "no such column: zip" in capsys.readouterr().err

    def test_usage(self, capsys):
        with pytest.raises(SystemExit) as info:
            main(["file.csv"])
        assert info.value.code == 2
        assert "--key" in capsys.readouterr().err

    def test_delimiter(self, tmp_path, capsys):
        path = tmp_path / "semi.csv"
        path.write_text("k;amount\\na;1\\n")
        assert main([str(path), "-k", "k", "--delimiter", ";"]) == 0
        assert capsys.readouterr().out.split() == ["a", "1.00"]

    def test_arguments_of_the_process(self, data, capsys, monkeypatch):
        monkeypatch.setattr(m.sys, "argv", ["groupsum", str(data), "-k", "name", "--json"])
        assert main() == 0
        assert json.loads(capsys.readouterr().out)["ann"] == 4.5


def test_parser_defaults():
    options = build_parser().parse_args(["f.csv", "-k", "a"])
    assert options.value == "amount"
    assert options.delimiter == ","
    assert options.json is False
    assert options.file.name == "f.csv"
""",
    ),
    "a pool and retries in coroutines": Odd(
        '''
"""Asynchronous helpers: a pool of resources, a limiter, retries with a delay."""

from __future__ import annotations

import asyncio
from typing import Any, AsyncIterator, Awaitable, Callable, Iterable


class PoolClosed(RuntimeError):
    pass


class Pool:
    """Gives each of its resources to one user at a time."""

    def __init__(self, resources: Iterable[Any]) -> None:
        self._free: asyncio.Queue[Any] = asyncio.Queue()
        for item in resources:
            self._free.put_nowait(item)
        self._closed = False

    async def __aenter__(self) -> "Pool":
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closed = True

    def acquire(self) -> "_Lease":
        return _Lease(self)

    @property
    def available(self) -> int:
        return self._free.qsize()


class _Lease:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def __aenter__(self) -> Any:
        if self._pool._closed:
            raise PoolClosed("the pool is closed")
        self._item = await self._pool._free.get()
        return self._item

    async def __aexit__(self, *_: object) -> None:
        self._pool._free.put_nowait(self._item)


async def retry(
    action: Callable[[], Awaitable[Any]],
    attempts: int = 3,
    delay: float = 0.1,
    sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
) -> Any:
    """Return what the action returns; after an OSError wait, twice as long each time."""
    for attempt in range(attempts):
        try:
            return await action()
        except OSError:
            if attempt == attempts - 1:
                raise
            await sleep(delay * 2**attempt)


async def chunks(source: AsyncIterator[Any], size: int) -> AsyncIterator[list[Any]]:
    """Yield lists of `size` items, the last one may be shorter."""
    if size < 1:
        raise ValueError("size must be positive")
    part = []
    async for item in source:
        part.append(item)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


async def first_result(*coroutines: Awaitable[Any]) -> Any:
    """Return the result of whichever ends first, and cancel the others."""
    tasks = [asyncio.ensure_future(item) for item in coroutines]
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    return done.pop().result()
''',
        """
import asyncio

import pytest

from m import Pool, PoolClosed, chunks, first_result, retry


def run(coroutine):
    return asyncio.run(coroutine)


async def numbers(count):
    for i in range(count):
        yield i


class Flaky:
    def __init__(self, failures, result="ok"):
        self.failures, self.result, self.calls = failures, result, 0

    async def __call__(self):
        self.calls += 1
        if self.calls <= self.failures:
            raise ConnectionError(f"failure {self.calls}")
        return self.result


class SleepRecorder:
    def __init__(self):
        self.delays = []

    async def __call__(self, seconds):
        self.delays.append(seconds)


def test_retry_succeeds_at_once():
    action, sleep = Flaky(0), SleepRecorder()
    assert run(retry(action, sleep=sleep)) == "ok"
    assert action.calls == 1
    assert sleep.delays == []


def test_retry_waits_longer_each_time():
    action, sleep = Flaky(2, "late"), SleepRecorder()
    assert run(retry(action, attempts=3, delay=1, sleep=sleep)) == "late"
    assert sleep.delays == [1, 2]


def test_retry_gives_up():
    action, sleep = Flaky(5), SleepRecorder()
    with pytest.raises(ConnectionError, match="failure 2"):
        run(retry(action, attempts=2, sleep=sleep))
    assert action.calls == 2
    assert sleep.delays == [0.1]


def test_retry_does_not_catch_others():
    async def action():
        raise KeyError("x")

    with pytest.raises(KeyError):
        run(retry(action))


@pytest.mark.parametrize(
    "count, size, expected",
    [(0, 2, []), (4, 2, [[0, 1], [2, 3]]), (3, 2, [[0, 1], [2]]), (2, 5, [[0, 1]])],
)
def test_chunks(count, size, expected):
    async def collect():
        return [part async for part in chunks(numbers(count), size)]

    assert run(collect()) == expected


def test_chunks_needs_a_size():
    async def collect():
        return [part async for part in chunks(numbers(1), 0)]

    with pytest.raises(ValueError, match="positive"):
        run(collect())


def test_pool_gives_and_takes_back():
    async def scenario():
        async with Pool(["a", "b"]) as pool:
            async with pool.acquire() as item:
                inside = pool.available
            return item, inside, pool.available

    assert run(scenario()) == ("a", 1, 2)


def test_pool_waits_for_a_resource():
    async def scenario():
        seen = []
        async with Pool([1]) as pool:

            async def use(name):
                async with pool.acquire():
                    seen.append(f"{name} in")
                    await asyncio.sleep(0)
                    seen.append(f"{name} out")

            await asyncio.gather(use("x"), use("y"))
        return seen

    assert run(scenario()) == ["x in", "x out", "y in", "y out"]


def test_closed_pool():
    async def scenario():
        async with Pool([1]) as pool:
            pass
        async with pool.acquire():
            pass

    with pytest.raises(PoolClosed, match="closed"):
        run(scenario())


def test_resource_comes_back_after_an_error():
    async def scenario():
        pool = Pool([1])
        try:
            async with pool.acquire():
                raise ValueError
        except ValueError:
            return pool.available

    assert run(scenario()) == 1


def test_first_result():
    async def after(turns, value):
        for _ in range(turns):
            await asyncio.sleep(0.001)
        return value

    async def scenario():
        return await first_result(after(50, "slow"), after(1, "quick"))

    assert run(scenario()) == "quick"
""",
    ),
    "a linked list with an equality of its own": Odd(
        '''
"""A doubly linked list."""

from __future__ import annotations

from typing import Any, Iterable, Iterator


class _Node:
    __slots__ = ("value", "previous", "next")

    def __init__(self, value, previous=None, next=None):
        self.value, self.previous, self.next = value, previous, next


class LinkedList:
    def __init__(self, values: Iterable[Any] = ()) -> None:
        self._first = self._last = None
        self._size = 0
        for value in values:
            self.append(value)

    def append(self, value: Any) -> None:
        node = _Node(value, previous=self._last)
        if self._last is None:
            self._first = node
        else:
            self._last.next = node
        self._last = node
        self._size += 1

    def prepend(self, value: Any) -> None:
        node = _Node(value, next=self._first)
        if self._first is None:
            self._last = node
        else:
            self._first.previous = node
        self._first = node
        self._size += 1

    def pop(self) -> Any:
        if self._last is None:
            raise IndexError("pop from an empty list")
        node = self._last
        self._remove(node)
        return node.value

    def remove(self, value: Any) -> None:
        node = self._first
        while node is not None:
            if node.value == value:
                self._remove(node)
                return
            node = node.next
        raise ValueError(f"{value!r} not in list")

    def _remove(self, node: _Node) -> None:
        if node.previous is None:
            self._first = node.next
        else:
            node.previous.next = node.next
        if node.next is None:
            self._last = node.previous
        else:
            node.next.previous = node.previous
        self._size -= 1

    def __iter__(self) -> Iterator[Any]:
        node = self._first
        while node is not None:
            yield node.value
            node = node.next

    def __reversed__(self) -> Iterator[Any]:
        node = self._last
        while node is not None:
            yield node.value
            node = node.previous

    def __len__(self) -> int:
        return self._size

    def __contains__(self, value: Any) -> bool:
        return any(item == value for item in self)

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            index += self._size
        if not 0 <= index < self._size:
            raise IndexError("list index out of range")
        for number, value in enumerate(self):
            if number == index:
                return value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinkedList):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other))

    def __repr__(self) -> str:
        return f"LinkedList({list(self)!r})"

    def __add__(self, other: "LinkedList") -> "LinkedList":
        return LinkedList([*self, *other])
''',
        '''
import pytest

from m import LinkedList


@pytest.fixture()
def abc():
    return LinkedList("abc")


def check(linked, expected):
    """All ways of looking at a list agree."""
    assert list(linked) == expected
    assert list(reversed(linked)) == expected[::-1]
    assert len(linked) == len(expected)


def test_empty():
    check(LinkedList(), [])


def test_from_values(abc):
    check(abc, ["a", "b", "c"])


def test_append():
    linked = LinkedList()
    linked.append(1)
    linked.append(2)
    check(linked, [1, 2])


def test_prepend():
    linked = LinkedList()
    linked.prepend(1)
    linked.prepend(2)
    check(linked, [2, 1])


def test_pop(abc):
    assert abc.pop() == "c"
    check(abc, ["a", "b"])
    assert abc.pop() == "b"
    assert abc.pop() == "a"
    check(abc, [])


def test_pop_from_empty():
    with pytest.raises(IndexError, match="empty"):
        LinkedList().pop()


@pytest.mark.parametrize("value, left", [("a", ["b", "c"]), ("b", ["a", "c"]), ("c", ["a", "b"])])
def test_remove(abc, value, left):
    abc.remove(value)
    check(abc, left)


def test_remove_only_the_first():
    linked = LinkedList([1, 2, 1])
    linked.remove(1)
    check(linked, [2, 1])


def test_remove_missing(abc):
    with pytest.raises(ValueError, match="'z' not in list"):
        abc.remove("z")


def test_contains(abc):
    assert "b" in abc
    assert "z" not in abc


@pytest.mark.parametrize("index, value", [(0, "a"), (2, "c"), (-1, "c"), (-3, "a")])
def test_getitem(abc, index, value):
    assert abc[index] == value


@pytest.mark.parametrize("index", [3, -4, 100])
def test_getitem_out_of_range(abc, index):
    with pytest.raises(IndexError):
        abc[index]


def test_equality(abc):
    assert abc == LinkedList(["a", "b", "c"])
    assert abc != LinkedList(["a", "b"])
    assert abc != LinkedList(["a", "b", "d"])
    assert abc != ["a", "b", "c"]


def test_repr(abc):
    assert repr(abc) == "LinkedList(['a', 'b', 'c'])"


def test_add(abc):
    both = abc + LinkedList([1])
    check(both, ["a", "b", "c", 1])
    check(abc, ["a", "b", "c"])


def test_two_iterators_at_once(abc):
    pairs = [(x, y) for x in abc for y in abc]
    assert len(pairs) == 9
    assert pairs[:2] == [("a", "a"), ("a", "b")]
''',
    ),
    "a state machine with listeners": Odd(
        '''
"""The states of an order."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum
from typing import Callable


class State(str, Enum):
    NEW = "new"
    PAID = "paid"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self in (State.DELIVERED, State.CANCELLED)


TRANSITIONS: dict[State, frozenset[State]] = {
    State.NEW: frozenset({State.PAID, State.CANCELLED}),
    State.PAID: frozenset({State.SHIPPED, State.CANCELLED}),
    State.SHIPPED: frozenset({State.DELIVERED}),
}


class InvalidTransition(Exception):
    def __init__(self, source: State, target: State):
        self.source, self.target = source, target
        super().__init__(f"{source.value} -> {target.value} is not allowed")


def _now() -> datetime:
    return datetime.now(timezone.utc)


@dataclass
class Order:
    number: str
    state: State = State.NEW
    history: list[tuple[State, datetime]] = field(default_factory=list)
    clock: Callable[[], datetime] = field(default=_now, repr=False, compare=False)
    _listeners: list[Callable[["Order", State], None]] = field(
        default_factory=list, repr=False, compare=False
    )

    def on_change(self, listener: Callable[["Order", State], None]) -> None:
        self._listeners.append(listener)

    def can(self, target: State) -> bool:
        return target in TRANSITIONS.get(self.state, frozenset())

    def move(self, target: State) -> None:
        if not self.can(target):
            raise InvalidTransition(self.state, target)
        previous, self.state = self.state, target
        self.history.append((target, self.clock()))
        for listener in self._listeners:
            listener(self, previous)

    def pay(self) -> None:
        self.move(State.PAID)

    def ship(self) -> None:
        self.move(State.SHIPPED)

    def cancel(self, reason: str = "") -> str:
        self.move(State.CANCELLED)
        return reason or "no reason given"

    @property
    def is_open(self) -> bool:
        return not self.state.is_final

    def duration(self) -> float:
        """Return the seconds between the first and the last change."""
        if len(self.history) < 2:
            return 0.0
        return (self.history[-1][1] - self.history[0][1]).total_seconds()
''',
        '''
from datetime import datetime, timedelta, timezone

import pytest

from m import InvalidTransition, Order, State

START = datetime(2024, 2, 29, 12, 0, tzinfo=timezone.utc)


class Clock:
    """Each call is a minute later."""

    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return START + timedelta(minutes=self.calls - 1)


@pytest.fixture
def order():
    return Order("A-1", clock=Clock())


def make_order(state):
    return Order("B-2", state=state, clock=Clock())


def test_new_order(order):
    assert order.state is State.NEW
    assert order.history == []
    assert order.is_open


def test_pay(order):
    order.pay()
    assert order.state == State.PAID
    assert order.history == [(State.PAID, START)]


def test_whole_life(order):
    order.pay()
    order.ship()
    order.move(State.DELIVERED)
    assert [state for state, _ in order.history] == [State.PAID, State.SHIPPED, State.DELIVERED]
    assert order.duration() == 120.0
    assert not order.is_open


def test_cancel(order):
    assert order.cancel("too slow") == "too slow"
    assert order.state is State.CANCELLED


def test_cancel_without_reason(order):
    assert order.cancel() == "no reason given"


@pytest.mark.parametrize(
    "state, target",
    [
        (State.NEW, State.SHIPPED),
        (State.PAID, State.NEW),
        (State.SHIPPED, State.CANCELLED),
        (State.DELIVERED, State.NEW),
        (State.CANCELLED, State.PAID),
    ],
    ids=lambda value: value.value,
)
def test_forbidden(state, target):
    order = make_order(state)
    assert order.can(target) is False
    with pytest.raises(InvalidTransition) as info:
        order.move(target)
    assert info.value.source is state
    assert info.value.target is target
    assert str(info.value) == f"{state.value} -> {target.value} is not allowed"
    assert order.state is state


@pytest.mark.parametrize("state", list(State))
def test_final_states(state):
    assert state.is_final is (state in {State.DELIVERED, State.CANCELLED})


def test_listeners(order):
    seen = []
    order.on_change(lambda changed, previous: seen.append((changed.number, previous, changed.state)))
    order.pay()
    order.ship()
    assert seen == [("A-1", State.NEW, State.PAID), ("A-1", State.PAID, State.SHIPPED)]


def test_listener_is_not_called_for_forbidden_moves(order):
    seen = []
    order.on_change(lambda *given: seen.append(given))
    with pytest.raises(InvalidTransition):
        order.ship()
    assert seen == []


def test_duration_of_one_change(order):
    order.pay()
    assert order.duration() == 0.0


def test_equality_ignores_clock():
    assert Order("x") == Order("x", clock=Clock())
    assert Order("x") != Order("y")


def test_state_is_text():
    assert State.PAID == "paid"
    assert State("shipped") is State.SHIPPED
    assert "clock" not in repr(Order("x"))
''',
    ),
    "fields that are descriptors": Odd(
        '''
"""Fields with checks."""

from __future__ import annotations

from typing import Any, Callable


class ValidationError(ValueError):
    def __init__(self, field: str, value: Any, problem: str) -> None:
        super().__init__(f"{field}: {problem} ({value!r})")
        self.field = field
        self.value = value


class Field:
    def __init__(self, kind: type, default: Any = None, check: Callable[[Any], bool] | None = None):
        self.kind, self.default, self.check = kind, default, check
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return instance.__dict__.get(self.name, self.default)

    def __set__(self, instance: Any, value: Any) -> None:
        if not isinstance(value, self.kind) or isinstance(value, bool) and self.kind is not bool:
            raise ValidationError(self.name, value, f"not {self.kind.__name__}")
        if self.check is not None and not self.check(value):
            raise ValidationError(self.name, value, "refused")
        instance.__dict__[self.name] = value


class Model:
    _fields: tuple[str, ...] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = [name for name, item in vars(cls).items() if isinstance(item, Field)]
        cls._fields = (*cls._fields, *own)

    def __init__(self, **values: Any) -> None:
        unknown = sorted(values.keys() - set(self._fields))
        if unknown:
            raise TypeError(f"unknown fields: {', '.join(unknown)}")
        for name, value in values.items():
            setattr(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_dict() == other.to_dict()


class Person(Model):
    name = Field(str, check=bool)
    age = Field(int, default=0, check=lambda n: 0 <= n < 150)


class Employee(Person):
    salary = Field(float, default=0.0)

    @property
    def monthly(self) -> float:
        return round(self.salary / 12, 2)

    @monthly.setter
    def monthly(self, value: float) -> None:
        self.salary = value * 12
''',
        """
import pytest

from m import Employee, Field, Model, Person, ValidationError


def test_defaults():
    person = Person()
    assert person.name is None
    assert person.age == 0


def test_values():
    person = Person(name="Ada", age=36)
    assert (person.name, person.age) == ("Ada", 36)
    person.age = 37
    assert person.age == 37


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("name", 3, "not str"),
        ("name", "", "refused"),
        ("age", "3", "not int"),
        ("age", True, "not int"),
        ("age", -1, "refused"),
        ("age", 150, "refused"),
    ],
)
def test_refused(field, value, problem):
    with pytest.raises(ValidationError) as info:
        Person(**{field: value})
    assert info.value.field == field
    assert info.value.value == value
    assert str(info.value) == f"{field}: {problem} ({value!r})"


def test_refused_value_is_not_kept():
    person = Person(age=5)
    with pytest.raises(ValidationError):
        person.age = 1000
    assert person.age == 5


def test_instances_are_apart():
    a, b = Person(age=1), Person(age=2)
    assert a.age == 1
    assert b.age == 2


def test_unknown_fields():
    with pytest.raises(TypeError, match="unknown fields: size, zip"):
        Person(zip=1, size=2)


def test_to_dict():
    assert Person(name="Bob").to_dict() == {"name": "Bob", "age": 0}
    assert Employee(name="Eve", salary=1200.0).to_dict() == {"name": "Eve", "age": 0, "salary": 1200.0}


def test_property():
    employee = Employee(salary=1000.0)
    assert employee.monthly == 83.33
    employee.monthly = 50.0
    assert employee.salary == 600.0


def test_equality():
    assert Person(name="x") == Person(name="x")
    assert Person(name="x") != Person(name="y")
    assert Person(name="x") != Employee(name="x")


def test_class_access():
    assert isinstance(Person.name, Field)
    assert Person.name.kind is str
    assert Person.age.default == 0


def test_model_of_a_test():
    class Point(Model):
        x = Field(int, default=1)

    assert Point().to_dict() == {"x": 1}
    assert Point(x=4).x == 4
""",
    ),
    "paths and orders of a graph": Odd(
        '''
"""Directed graphs with weights."""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from typing import Dict, Hashable, Iterable, Iterator, List, Tuple


class CycleError(ValueError):
    """There is no order, as the nodes of a cycle wait for each other."""


class Graph:
    def __init__(self, edges: Iterable[Tuple[Hashable, Hashable, float]] = ()) -> None:
        self._edges: Dict[Hashable, Dict[Hashable, float]] = defaultdict(dict)
        for source, target, weight in edges:
            self.add_edge(source, target, weight)

    def add_edge(self, source, target, weight=1.0):
        if weight < 0:
            raise ValueError("weights must not be negative")
        self._edges[source][target] = weight
        self._edges.setdefault(target, {})

    def __contains__(self, node):
        return node in self._edges

    def __len__(self):
        return len(self._edges)

    def nodes(self):
        return list(self._edges)

    def neighbours(self, node):
        return sorted(self._edges.get(node, ()))

    def shortest_path(self, start, goal):
        """Return length and nodes of the shortest path; None where there is none."""
        queue = [(0, 0, start, (start,))]
        done, count = set(), 0
        while queue:
            length, _, node, path = heapq.heappop(queue)
            if node == goal:
                return length, list(path)
            if node in done:
                continue
            done.add(node)
            for other, weight in self._edges.get(node, {}).items():
                if other not in done:
                    count += 1
                    heapq.heappush(queue, (length + weight, count, other, (*path, other)))
        return None

    def breadth_first(self, start) -> Iterator[Hashable]:
        seen, queue = {start}, deque([start])
        while queue:
            node = queue.popleft()
            yield node
            for other in self.neighbours(node):
                if other not in seen:
                    seen.add(other)
                    queue.append(other)

    def topological_order(self) -> List[Hashable]:
        """Return the nodes, each before those to which it has an edge; the smallest first."""
        waiting = {node: 0 for node in self._edges}
        for targets in self._edges.values():
            for target in targets:
                waiting[target] += 1
        ready = sorted(node for node, count in waiting.items() if count == 0)
        order = []
        while ready:
            node = heapq.heappop(ready)
            order.append(node)
            for target in self._edges[node]:
                waiting[target] -= 1
                if waiting[target] == 0:
                    heapq.heappush(ready, target)
        if len(order) < len(self._edges):
            raise CycleError(f"cycle among {sorted(set(self._edges) - set(order))}")
        return order

    def components(self):
        """Return the sets of nodes that are connected in whatever direction."""
        both = defaultdict(set)
        for source, targets in self._edges.items():
            for target in targets:
                both[source].add(target)
                both[target].add(source)
        found, seen = [], set()
        for node in self._edges:
            if node not in seen:
                part, todo = set(), [node]
                while todo:
                    item = todo.pop()
                    if item not in part:
                        part.add(item)
                        todo.extend(both[item])
                seen |= part
                found.append(part)
        return found
''',
        """
import pytest

from m import CycleError, Graph

EDGES = [("a", "b", 4), ("a", "c", 1), ("c", "b", 2), ("b", "d", 5), ("c", "d", 8)]


@pytest.fixture(scope="module")
def graph():
    return Graph(EDGES)


class TestShape:
    def test_nodes(self, graph):
        assert len(graph) == 4
        assert sorted(graph.nodes()) == ["a", "b", "c", "d"]

    def test_contains(self, graph):
        assert "d" in graph
        assert "x" not in graph

    def test_neighbours(self, graph):
        assert graph.neighbours("a") == ["b", "c"]
        assert graph.neighbours("d") == []
        assert graph.neighbours("unknown") == []

    def test_negative(self):
        with pytest.raises(ValueError, match="negative"):
            Graph([(1, 2, -1)])

    def test_default_weight(self):
        g = Graph()
        g.add_edge(1, 2)
        assert g.shortest_path(1, 2) == (1.0, [1, 2])


class TestPaths:
    @pytest.mark.parametrize(
        "start, goal, length, path",
        [
            ("a", "b", 3, ["a", "c", "b"]),
            ("a", "d", 8, ["a", "c", "b", "d"]),
            ("c", "d", 7, ["c", "b", "d"]),
            ("a", "a", 0, ["a"]),
        ],
    )
    def test_shortest(self, graph, start, goal, length, path):
        assert graph.shortest_path(start, goal) == (length, path)

    def test_unreachable(self, graph):
        assert graph.shortest_path("d", "a") is None

    def test_cycle_is_no_problem(self):
        g = Graph([(1, 2, 1), (2, 1, 1), (2, 3, 1)])
        assert g.shortest_path(1, 3) == (2, [1, 2, 3])


def test_breadth_first(graph):
    assert list(graph.breadth_first("a")) == ["a", "b", "c", "d"]
    assert list(graph.breadth_first("d")) == ["d"]


def test_breadth_first_is_lazy(graph):
    walk = graph.breadth_first("c")
    assert next(walk) == "c"
    assert next(walk) == "b"


def test_topological_order(graph):
    assert graph.topological_order() == ["a", "c", "b", "d"]


def test_topological_order_prefers_small():
    assert Graph([(3, 1, 1), (2, 1, 1)]).topological_order() == [2, 3, 1]


def test_cycle():
    with pytest.raises(CycleError, match=r"\\[1, 2\\]"):
        Graph([(0, 1, 1), (1, 2, 1), (2, 1, 1)]).topological_order()


def test_components():
    g = Graph([(1, 2, 1), (3, 4, 1), (5, 4, 1)])
    parts = g.components()
    assert sorted(sorted(part) for part in parts) == [[1, 2], [3, 4, 5]]
    assert Graph().components() == []
""",
    ),
    "a layout of text": Odd(
        '''
"""Layout of text in columns."""

from __future__ import annotations

import textwrap
from typing import Iterable, Literal

Align = Literal["left", "right", "center"]


def justify(line: str, width: int) -> str:
    """Stretch the spaces of a line; the left ones get more."""
    words = line.split()
    if len(words) < 2:
        return line.strip()
    spaces = width - sum(map(len, words))
    each, more = divmod(spaces, len(words) - 1)
    if each < 1:
        return " ".join(words)
    parts = [word + " " * (each + (n < more)) for n, word in enumerate(words[:-1])]
    return "".join(parts) + words[-1]


def paragraph(text: str, width: int = 40, *, justified: bool = False, indent: str = "") -> str:
    """Return the text in lines of at most `width` characters; the last one is not justified."""
    if width < 1:
        raise ValueError("width must be positive")
    lines = textwrap.wrap(" ".join(text.split()), width - len(indent))
    if justified:
        lines = [justify(line, width - len(indent)) for line in lines[:-1]] + lines[-1:]
    return "\\n".join(indent + line for line in lines)


def table(rows: Iterable[Iterable[object]], aligns: str = "", separator: str = " | ") -> str:
    """Return rows with columns of equal width; `aligns` has l, r or c for each column."""
    texts = [[str(cell) for cell in row] for row in rows]
    if not texts:
        return ""
    count = max(map(len, texts))
    for row in texts:
        row.extend([""] * (count - len(row)))
    widths = [max(len(row[i]) for row in texts) for i in range(count)]
    methods = {"l": str.ljust, "r": str.rjust, "c": str.center}
    chosen = [methods[letter] for letter in aligns.ljust(count, "l")]
    lines = (
        separator.join(align(cell, width) for align, cell, width in zip(chosen, row, widths))
        for row in texts
    )
    return "\\n".join(line.rstrip() for line in lines)


def box(text: str) -> str:
    """Return the text in a frame."""
    lines = text.splitlines() or [""]
    width = max(map(len, lines))
    rule = "+" + "-" * (width + 2) + "+"
    return "\\n".join([rule, *(f"| {line:<{width}} |" for line in lines), rule])


def truncate(text: str, limit: int, mark: str = "...") -> str:
    if len(text) <= limit:
        return text
    if limit <= len(mark):
        return mark[:limit]
    return text[: limit - len(mark)].rstrip() + mark
''',
        '''
from textwrap import dedent

import pytest

from m import box, justify, paragraph, table, truncate

LOREM = "the quick brown fox jumps over the lazy dog"


def assert_lines(actual, expected):
    assert actual.split("\\n") == dedent(expected).strip("\\n").split("\\n")


@pytest.mark.parametrize(
    "line, width, expected",
    [
        ("a b", 5, "a   b"),
        ("a b c", 6, "a  b c"),
        ("a b c", 7, "a  b  c"),
        ("one", 10, "one"),
        ("  one  ", 10, "one"),
        ("", 3, ""),
        ("long words", 4, "long words"),
    ],
)
def test_justify(line, width, expected):
    assert justify(line, width) == expected


def test_paragraph():
    assert_lines(
        paragraph(LOREM, 16),
        """
        the quick brown
        fox jumps over
        the lazy dog
        """,
    )


def test_paragraph_justified():
    result = paragraph(LOREM, 16, justified=True)
    assert result == "the  quick brown\\nfox  jumps  over\\nthe lazy dog"


def test_paragraph_indent():
    assert paragraph("a b c", 3, indent="> ") == "> a\\n> b\\n> c"


def test_paragraph_white_space():
    assert paragraph("  a \\n\\t b  ") == "a b"
    assert paragraph("") == ""


def test_paragraph_width():
    with pytest.raises(ValueError):
        paragraph("x", 0)


class TestTable:
    def test_left(self):
        assert table([["a", 1], ["long", 22]]) == "a    | 1\\nlong | 22"

    def test_right_and_center(self):
        assert table([["a", 1, "x"], ["b", 22, "xyz"]], "lrc") == "a |  1 |  x\\nb | 22 | xyz"

    def test_missing_cells(self):
        assert table([["a"], ["b", "c"]]) == "a |\\nb | c"

    def test_separator(self):
        assert table([[1, 2]], separator=",") == "1,2"

    def test_empty(self):
        assert table([]) == ""

    def test_unknown_alignment(self):
        with pytest.raises(KeyError):
            table([["a"]], "x")


def test_box():
    assert_lines(
        box("hi\\nthere"),
        """
        +-------+
        | hi    |
        | there |
        +-------+
        """,
    )


def test_box_empty():
    assert box("").splitlines() == ["+--+", "|  |", "+--+"]


@pytest.mark.parametrize(
    "limit, expected", [(11, "hello world"), (10, "hello w..."), (9, "hello..."), (3, "..."), (2, "..")]
)
def test_truncate(limit, expected):
    assert truncate("hello world", limit) == expected


def test_truncate_mark():
    assert truncate("abcdef", 4, mark="~") == "abc~"
''',
    ),
    "recurring dates": Odd(
        '''
"""Recurring dates and working days."""

from __future__ import annotations

import calendar
from datetime import date, datetime, timedelta
from enum import IntEnum
from typing import Collection, Iterator


class Weekday(IntEnum):
    MONDAY = 0
    TUESDAY = 1
    WEDNESDAY = 2
    THURSDAY = 3
    FRIDAY = 4
    SATURDAY = 5
    SUNDAY = 6


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def add_months(day: date, months: int) -> date:
    """Return the same day some months later, or the last of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(day.day, last))


def nth_weekday(year: int, month: int, weekday: Weekday, n: int) -> date:
    """Return the n-th such day of a month; the last one for -1."""
    if n == 0 or not -5 <= n <= 5:
        raise ValueError("n must be in -5..-1 or 1..5")
    days = calendar.monthrange(year, month)[1]
    found = [
        date(year, month, day)
        for day in range(1, days + 1)
        if date(year, month, day).weekday() == weekday
    ]
    try:
        return found[n - 1 if n > 0 else n]
    except IndexError:
        raise ValueError(f"no {n}. {weekday.name.lower()} in {year}-{month:02}") from None


def working_days(first: date, last: date, holidays: Collection[date] = ()) -> int:
    """Count days from Monday to Friday that are no holidays, both ends included."""
    count = 0
    day = first
    while day <= last:
        if day.weekday() < Weekday.SATURDAY and day not in holidays:
            count += 1
        day += timedelta(days=1)
    return count


def every(start: date, *, days: int = 0, months: int = 0, until: date | None = None) -> Iterator[date]:
    """Yield `start` and the dates that follow it; never ends without `until`."""
    if days <= 0 and months <= 0:
        raise ValueError("a period must be positive")
    number = 0
    while True:
        day = add_months(start, months * number) + timedelta(days=days * number)
        if until is not None and day > until:
            return
        yield day
        number += 1


def parse_day(text: str) -> date:
    """Return a date that is written as 2024-02-29, 29.02.2024 or 02/29/2024."""
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y"):
        try:
            return datetime.strptime(text, form).date()
        except ValueError:
            continue
    raise ValueError(f"no date: {text!r}")
''',
        """
import unittest
from datetime import date
from itertools import islice

from m import Weekday, add_months, every, is_leap, nth_weekday, parse_day, working_days


class LeapTests(unittest.TestCase):
    def test_leap(self):
        for year in (2000, 2024, 1600):
            self.assertTrue(is_leap(year), year)

    def test_no_leap(self):
        for year in (1900, 2023, 2100):
            self.assertFalse(is_leap(year), year)


class AddMonthsTests(unittest.TestCase):
    cases = [
        (date(2024, 1, 15), 1, date(2024, 2, 15)),
        (date(2024, 1, 31), 1, date(2024, 2, 29)),
        (date(2023, 1, 31), 1, date(2023, 2, 28)),
        (date(2023, 11, 5), 3, date(2024, 2, 5)),
        (date(2024, 3, 31), -1, date(2024, 2, 29)),
        (date(2024, 1, 1), -1, date(2023, 12, 1)),
        (date(2024, 1, 1), 0, date(2024, 1, 1)),
    ]

    def test_cases(self):
        for day, months, expected in self.cases:
            with self.subTest(day=day, months=months):
                self.assertEqual(add_months(day, months), expected)


class NthWeekdayTests(unittest.TestCase):
    def test_first_and_third(self):
        self.assertEqual(nth_weekday(2024, 9, Weekday.MONDAY, 1), date(2024, 9, 2))
        self.assertEqual(nth_weekday(2024, 11, Weekday.THURSDAY, 4), date(2024, 11, 28))

    def test_last(self):
        self.assertEqual(nth_weekday(2024, 5, Weekday.MONDAY, -1), date(2024, 5, 27))

    def test_fifth(self):
        self.assertEqual(nth_weekday(2024, 8, Weekday.FRIDAY, 5), date(2024, 8, 30))
        with self.assertRaisesRegex(ValueError, "no 5. friday in 2024-09"):
            nth_weekday(2024, 9, Weekday.FRIDAY, 5)

    def test_bad_n(self):
        for n in (0, 6, -6):
            with self.assertRaises(ValueError):
                nth_weekday(2024, 1, Weekday.SUNDAY, n)


class WorkingDaysTests(unittest.TestCase):
    def test_a_week(self):
        self.assertEqual(working_days(date(2024, 4, 1), date(2024, 4, 7)), 5)

    def test_holidays(self):
        easter = {date(2024, 4, 1)}
        self.assertEqual(working_days(date(2024, 4, 1), date(2024, 4, 7), easter), 4)

    def test_one_day(self):
        self.assertEqual(working_days(date(2024, 4, 5), date(2024, 4, 5)), 1)
        self.assertEqual(working_days(date(2024, 4, 6), date(2024, 4, 6)), 0)

    def test_backwards(self):
        self.assertEqual(working_days(date(2024, 4, 5), date(2024, 4, 1)), 0)


class EveryTests(unittest.TestCase):
    def test_days(self):
        found = list(every(date(2024, 2, 27), days=2, until=date(2024, 3, 2)))
        self.assertEqual(found, [date(2024, 2, 27), date(2024, 2, 29), date(2024, 3, 2)])

    def test_months_keep_the_day(self):
        found = list(islice(every(date(2024, 1, 31), months=1), 4))
        self.assertEqual([d.day for d in found], [31, 29, 31, 30])

    def test_until_before_start(self):
        self.assertEqual(list(every(date(2024, 1, 2), days=1, until=date(2024, 1, 1))), [])

    def test_period(self):
        with self.assertRaises(ValueError):
            next(every(date(2024, 1, 1)))


class ParseTests(unittest.TestCase):
    def test_forms(self):
        for text in ("2024-02-29", "29.02.2024", "02/29/2024"):
            with self.subTest(text):
                self.assertEqual(parse_day(text), date(2024, 2, 29))

    def test_bad(self):
        with self.assertRaises(ValueError) as context:
            parse_day("2023-02-29")
        self.assertIn("'2023-02-29'", str(context.exception))


if __name__ == "__main__":
    unittest.main()
""",
    ),
}
