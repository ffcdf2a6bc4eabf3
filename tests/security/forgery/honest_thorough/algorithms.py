"""Algorithms: tokenizer, matrix, intervals, graphs, generators, caches."""

from __future__ import annotations

from tests.security.forgery.case import Odd

THOROUGH = {
    "a tokenizer and its sums": Odd(
        """
import re

_TOKEN = re.compile(r"\\s*(?:(\\d+)|(.))")
_POWER = {"+": 1, "-": 1, "*": 2, "/": 2}


def tokens(text):
    found = []
    for number, sign in _TOKEN.findall(text.strip()):
        if sign and sign not in "+-*/()":
            raise SyntaxError(f"unexpected {sign!r}")
        found.append(int(number) if number else sign)
    return found


class Parser:
    def __init__(self, text):
        self._left = tokens(text)

    def result(self):
        value = self._sum(0)
        if self._left:
            raise SyntaxError(f"left over: {self._left}")
        return value

    def _sum(self, power):
        value = self._value()
        while self._left and _POWER.get(self._left[0], 0) > power:
            sign = self._left.pop(0)
            other = self._sum(_POWER[sign])
            value = {
                "+": lambda a, b: a + b,
                "-": lambda a, b: a - b,
                "*": lambda a, b: a * b,
                "/": lambda a, b: a // b,
            }[sign](value, other)
        return value

    def _value(self):
        if not self._left:
            raise SyntaxError("a value is missing")
        token = self._left.pop(0)
        if token == "-":
            return -self._value()
        if token == "(":
            value = self._sum(0)
            if self._left[:1] != [")"]:
                raise SyntaxError("no )")
            self._left.pop(0)
            return value
        if not isinstance(token, int):
            raise SyntaxError(f"unexpected {token!r}")
        return token


def calculate(text):
    return Parser(text).result()
""",
        """
import pytest

from m import calculate, tokens


def test_tokens():
    assert tokens("12 + (3*4)") == [12, "+", "(", 3, "*", 4, ")"]
    assert tokens("") == []


@pytest.mark.parametrize(
    "text, expected",
    [
        ("7", 7),
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("100 / 7 / 2", 7),
        ("-3 + 5", 2),
        ("2 * -3", -6),
        ("-(2 + 3)", -5),
        ("2 * (3 + (4 - 1))", 12),
        ("8 / 4 * 2", 4),
    ],
)
def test_values(text, expected):
    assert calculate(text) == expected


@pytest.mark.parametrize(
    "text, message",
    [
        ("1 +", "a value is missing"),
        ("", "a value is missing"),
        ("(1", "no )"),
        ("1 2", "left over"),
        ("1)", "left over"),
        ("* 2", "unexpected"),
        ("1 $ 2", "unexpected"),
    ],
)
def test_errors(text, message):
    with pytest.raises(SyntaxError) as caught:
        calculate(text)
    assert message in str(caught.value)


def test_division_by_zero():
    with pytest.raises(ZeroDivisionError):
        calculate("1 / 0")
""",
    ),
    "matrices": Odd(
        """
class Matrix:
    def __init__(self, rows):
        self.rows = [list(row) for row in rows]
        if len({len(row) for row in self.rows}) != 1:
            raise ValueError("rows of one length are needed")

    @classmethod
    def identity(cls, size):
        return cls([[int(i == j) for j in range(size)] for i in range(size)])

    @property
    def shape(self):
        return len(self.rows), len(self.rows[0])

    def transposed(self):
        return Matrix(zip(*self.rows))

    def __matmul__(self, other):
        if self.shape[1] != other.shape[0]:
            raise ValueError(f"{self.shape} @ {other.shape}")
        columns = list(zip(*other.rows))
        return Matrix(
            [[sum(a * b for a, b in zip(row, column)) for column in columns] for row in self.rows]
        )

    def determinant(self):
        if self.shape[0] != self.shape[1]:
            raise ValueError("not square")
        if self.shape == (1, 1):
            return self.rows[0][0]
        total = 0
        for column, value in enumerate(self.rows[0]):
            minor = [row[:column] + row[column + 1 :] for row in self.rows[1:]]
            total += (-1) ** column * value * Matrix(minor).determinant()
        return total
""",
        """
import pytest

from m import Matrix


def test_shape():
    assert Matrix([[1, 2, 3], [4, 5, 6]]).shape == (2, 3)


@pytest.mark.parametrize("rows", [[], [[1], [1, 2]]])
def test_bad_rows(rows):
    with pytest.raises(ValueError, match="one length"):
        Matrix(rows)


def test_identity():
    assert Matrix.identity(3).rows == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_transposed():
    assert Matrix([[1, 2, 3], [4, 5, 6]]).transposed().rows == [[1, 4], [2, 5], [3, 6]]


def test_product():
    product = Matrix([[1, 2], [3, 4]]) @ Matrix([[5, 6, 7], [8, 9, 10]])
    assert product.rows == [[21, 24, 27], [47, 54, 61]]
    assert (Matrix([[2, 3]]) @ Matrix.identity(2)).rows == [[2, 3]]


def test_product_of_wrong_shapes():
    with pytest.raises(ValueError) as caught:
        Matrix([[1, 2]]) @ Matrix([[1, 2]])
    assert str(caught.value) == "(1, 2) @ (1, 2)"


@pytest.mark.parametrize(
    "rows, expected",
    [
        ([[7]], 7),
        ([[1, 2], [3, 4]], -2),
        ([[2, 0, 1], [1, 3, 2], [1, 1, 4]], 18),
        ([[1, 2], [2, 4]], 0),
    ],
)
def test_determinant(rows, expected):
    assert Matrix(rows).determinant() == expected


def test_determinant_of_a_row():
    with pytest.raises(ValueError, match="not square"):
        Matrix([[1, 2]]).determinant()


def test_rows_are_copied():
    rows = [[1, 2]]
    matrix = Matrix(rows)
    rows[0][0] = 9
    assert matrix.rows == [[1, 2]]
""",
    ),
    "intervals kept in order": Odd(
        """
from bisect import insort


class Intervals:
    def __init__(self):
        self._items = []

    def add(self, start, end):
        if start >= end:
            raise ValueError(f"{start} is not before {end}")
        kept = []
        for low, high in self._items:
            if high < start or end < low:
                kept.append((low, high))
            else:
                start, end = min(start, low), max(end, high)
        insort(kept, (start, end))
        self._items = kept

    def __iter__(self):
        return iter(self._items)

    def __contains__(self, point):
        return any(low <= point < high for low, high in self._items)

    def __len__(self):
        return sum(high - low for low, high in self._items)
""",
        """
import random

import pytest

from m import Intervals


def made(*pairs):
    intervals = Intervals()
    for start, end in pairs:
        intervals.add(start, end)
    return intervals


@pytest.mark.parametrize(
    "pairs, expected",
    [
        ([], []),
        ([(5, 6), (1, 2)], [(1, 2), (5, 6)]),
        ([(1, 3), (3, 5)], [(1, 5)]),
        ([(1, 3), (4, 5)], [(1, 3), (4, 5)]),
        ([(1, 10), (3, 4)], [(1, 10)]),
        ([(3, 4), (1, 10)], [(1, 10)]),
        ([(1, 2), (5, 6), (9, 10), (2, 9)], [(1, 10)]),
    ],
)
def test_add(pairs, expected):
    assert list(made(*pairs)) == expected


@pytest.mark.parametrize("start, end", [(2, 2), (3, 1)])
def test_bad(start, end):
    with pytest.raises(ValueError, match=f"{start} is not before {end}"):
        made((start, end))


def test_contains():
    intervals = made((1, 3), (7, 9))
    assert [n for n in range(11) if n in intervals] == [1, 2, 7, 8]


def test_length():
    assert len(made()) == 0
    assert len(made((1, 3), (7, 10))) == 5


def test_like_a_set():
    rng = random.Random(5)
    for _ in range(30):
        pairs = [(n, n + rng.randrange(1, 6)) for n in (rng.randrange(30) for _ in range(6))]
        wanted = {point for low, high in pairs for point in range(low, high)}
        intervals = made(*pairs)
        assert {n for n in range(40) if n in intervals} == wanted
        assert len(intervals) == len(wanted)
""",
    ),
    "windows and chunks that are drawn": Odd(
        """
from collections import deque


def chunks(items, size):
    if size < 1:
        raise ValueError("size must be positive")
    part = []
    for item in items:
        part.append(item)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def windows(items, size):
    seen = deque(maxlen=size)
    for item in items:
        seen.append(item)
        if len(seen) == size:
            yield tuple(seen)


def running_mean():
    total, count, mean = 0, 0, None
    while True:
        value = yield mean
        total += value
        count += 1
        mean = total / count
""",
        """
import itertools

import pytest

from m import chunks, running_mean, windows


@pytest.mark.parametrize(
    "size, expected",
    [(1, [[1], [2], [3], [4], [5]]), (2, [[1, 2], [3, 4], [5]]), (5, [[1, 2, 3, 4, 5]]), (9, [[1, 2, 3, 4, 5]])],
)
def test_chunks(size, expected):
    assert list(chunks([1, 2, 3, 4, 5], size)) == expected


def test_no_chunks():
    assert list(chunks([], 3)) == []


def test_bad_size():
    with pytest.raises(ValueError, match="positive"):
        next(chunks([1], 0))


def test_chunks_of_something_endless():
    assert next(chunks(itertools.count(), 3)) == [0, 1, 2]


def test_windows():
    assert list(windows("abcd", 2)) == [("a", "b"), ("b", "c"), ("c", "d")]
    assert list(windows("abc", 3)) == [("a", "b", "c")]
    assert list(windows("ab", 3)) == []


def test_running_mean():
    mean = running_mean()
    assert next(mean) is None
    assert mean.send(4) == 4.0
    assert mean.send(8) == 6.0
    assert mean.send(0) == 4.0
""",
    ),
    "a cache with an end of life": Odd(
        """
import functools


def cached(seconds, clock):
    def decorate(function):
        answers = {}

        @functools.wraps(function)
        def call(*arguments):
            now = clock()
            if arguments in answers:
                made, value = answers[arguments]
                if now - made < seconds:
                    call.hits += 1
                    return value
            value = function(*arguments)
            answers[arguments] = (now, value)
            return value

        call.hits = 0
        call.forget = answers.clear
        return call

    return decorate
""",
        """
import pytest

from m import cached


class Clock:
    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def double(clock):
    asked = []

    @cached(10, clock)
    def double(n):
        "Twice the number."
        asked.append(n)
        return 2 * n

    double.asked = asked
    return double


def test_asked_once(double):
    assert [double(3), double(3), double(4)] == [6, 6, 8]
    assert double.asked == [3, 4]
    assert double.hits == 1


@pytest.mark.parametrize("later, asked", [(9, [1]), (10, [1, 1]), (25, [1, 1])])
def test_age(double, clock, later, asked):
    double(1)
    clock.now = later
    assert double(1) == 2
    assert double.asked == asked


def test_made_new(double, clock):
    double(1)
    clock.now = 12
    double(1)
    clock.now = 21
    double(1)
    assert double.asked == [1, 1]
    assert double.hits == 1


def test_forget(double):
    double(1)
    double.forget()
    double(1)
    assert double.asked == [1, 1]
    assert double.hits == 0


def test_name(double):
    assert double.__name__ == "double"
    assert double.__doc__ == "Twice the number."
""",
    ),
    "the least recently used goes": Odd(
        """
from collections import OrderedDict


class LRU:
    def __init__(self, size, on_drop=None):
        self.size = size
        self._items = OrderedDict()
        self._on_drop = on_drop or (lambda key, value: None)

    def __getitem__(self, key):
        self._items.move_to_end(key)
        return self._items[key]

    def __setitem__(self, key, value):
        self._items[key] = value
        self._items.move_to_end(key)
        while len(self._items) > self.size:
            self._on_drop(*self._items.popitem(last=False))

    def __contains__(self, key):
        return key in self._items

    def __iter__(self):
        return iter(self._items)
""",
        """
import pytest

from m import LRU


@pytest.fixture
def dropped():
    return []


@pytest.fixture
def cache(dropped):
    made = LRU(2, lambda *pair: dropped.append(pair))
    made["a"] = 1
    made["b"] = 2
    return made


def test_get(cache):
    assert cache["a"] == 1
    assert cache["b"] == 2


def test_missing(cache):
    with pytest.raises(KeyError):
        cache["z"]


def test_drop(cache, dropped):
    cache["c"] = 3
    assert list(cache) == ["b", "c"]
    assert dropped == [("a", 1)]


def test_use(cache, dropped):
    cache["a"]
    cache["c"] = 3
    assert list(cache) == ["a", "c"]
    assert dropped == [("b", 2)]


def test_set_again(cache, dropped):
    cache["a"] = 9
    assert list(cache) == ["b", "a"]
    assert cache["a"] == 9
    assert dropped == []


def test_contains_is_no_use(cache):
    assert "a" in cache
    assert "z" not in cache
    cache["c"] = 3
    assert "a" not in cache


def test_without_callback():
    cache = LRU(1)
    cache["a"] = 1
    cache["b"] = 2
    assert list(cache) == ["b"]
    assert cache.size == 1
""",
    ),
    "an order of tasks": Odd(
        """
import heapq


class Tasks:
    def __init__(self):
        self._heap = []
        self._count = 0
        self._gone = set()

    def add(self, name, priority=0):
        self._count += 1
        heapq.heappush(self._heap, (-priority, self._count, name))
        return self._count

    def cancel(self, ticket):
        waiting = {number for _, number, _ in self._heap} - self._gone
        if ticket in waiting:
            self._gone.add(ticket)
            return True
        return False

    def pop(self):
        while self._heap:
            _, ticket, name = heapq.heappop(self._heap)
            if ticket not in self._gone:
                return name
        raise IndexError("no task")

    def __len__(self):
        return len(self._heap) - sum(number in self._gone for _, number, _ in self._heap)
""",
        """
import pytest

from m import Tasks


def drained(tasks):
    return [tasks.pop() for _ in range(len(tasks))]


def test_by_priority_then_age():
    tasks = Tasks()
    for name, priority in [("a", 0), ("b", 5), ("c", 5), ("d", -1)]:
        tasks.add(name, priority)
    assert len(tasks) == 4
    assert drained(tasks) == ["b", "c", "a", "d"]


def test_default_priority():
    tasks = Tasks()
    tasks.add("late", -1)
    tasks.add("normal")
    tasks.add("early", 1)
    assert drained(tasks) == ["early", "normal", "late"]


def test_tickets():
    tasks = Tasks()
    assert [tasks.add("a"), tasks.add("b")] == [1, 2]


def test_cancel():
    tasks = Tasks()
    tasks.add("a")
    ticket = tasks.add("b", 9)
    assert tasks.cancel(ticket) is True
    assert tasks.cancel(ticket) is False
    assert len(tasks) == 1
    assert tasks.pop() == "a"
    assert len(tasks) == 0


def test_cancel_what_is_done():
    tasks = Tasks()
    ticket = tasks.add("a")
    tasks.pop()
    assert tasks.cancel(ticket) is False
    assert tasks.cancel(99) is False


def test_empty():
    with pytest.raises(IndexError, match="no task"):
        Tasks().pop()
""",
    ),
    "numbers of variable length": Odd(
        """
def encode(number):
    if number < 0:
        raise ValueError("negative")
    found = bytearray()
    while True:
        number, low = divmod(number, 128)
        found.append(low | (128 if number else 0))
        if not number:
            return bytes(found)


def decode(data):
    numbers, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value = shift = 0
    if shift:
        raise EOFError("cut off")
    return numbers
""",
        """
import random

import pytest

from m import decode, encode


@pytest.mark.parametrize(
    "number, data",
    [(0, b"\\x00"), (1, b"\\x01"), (127, b"\\x7f"), (128, b"\\x80\\x01"), (300, b"\\xac\\x02"), (16384, b"\\x80\\x80\\x01")],
)
def test_known(number, data):
    assert encode(number) == data
    assert decode(data) == [number]


def test_negative():
    with pytest.raises(ValueError, match="negative"):
        encode(-1)


def test_several():
    assert decode(b"\\x01\\xac\\x02\\x00") == [1, 300, 0]
    assert decode(b"") == []


def test_cut_off():
    with pytest.raises(EOFError, match="cut off"):
        decode(b"\\x01\\x80")


def test_round_trip():
    rng = random.Random(11)
    for _ in range(100):
        numbers = [rng.randrange(1 << rng.randrange(1, 50)) for _ in range(3)]
        assert decode(b"".join(map(encode, numbers))) == numbers
""",
    ),
    "forms by the type of a value": Odd(
        """
import functools
from collections.abc import Mapping
from datetime import date


@functools.singledispatch
def plain(value):
    raise TypeError(f"no form for {type(value).__name__}")


@plain.register(int)
@plain.register(str)
@plain.register(type(None))
def _(value):
    return value


@plain.register
def _(value: date):
    return value.isoformat()


@plain.register
def _(value: Mapping):
    return {str(key): plain(item) for key, item in value.items()}


@plain.register(list)
@plain.register(tuple)
def _(value):
    return [plain(item) for item in value]


@plain.register
def _(value: set):
    return sorted(map(plain, value))
""",
        """
from datetime import date
from types import MappingProxyType

import pytest

from m import plain


@pytest.mark.parametrize("value", [5, "x", None, True])
def test_as_they_are(value):
    assert plain(value) == value


def test_date():
    assert plain(date(2024, 2, 29)) == "2024-02-29"


def test_nested():
    value = {1: (date(2024, 1, 2), [3]), "s": {3, 1, 2}}
    assert plain(value) == {"1": ["2024-01-02", [3]], "s": [1, 2, 3]}


def test_other_mappings():
    assert plain(MappingProxyType({"a": (1,)})) == {"a": [1]}


@pytest.mark.parametrize("value, name", [(1.5, "float"), ([b"x"], "bytes"), ({"a": {2.5}}, "float")])
def test_no_form(value, name):
    with pytest.raises(TypeError, match=f"no form for {name}"):
        plain(value)
""",
    ),
    "records that are checked by their annotations": Odd(
        """
from typing import TypedDict, get_type_hints


class User(TypedDict, total=False):
    name: str
    age: int
    tags: list


_REQUIRED = ("name", "age")


def problems(record, kind=User):
    hints = get_type_hints(kind)
    found = [f"{key}: missing" for key in _REQUIRED if key in hints and key not in record]
    for key, value in record.items():
        if key not in hints:
            found.append(f"{key}: unknown")
        elif not isinstance(value, hints[key]):
            found.append(f"{key}: {hints[key].__name__}, not {type(value).__name__}")
    return sorted(found)


def load(record):
    found = problems(record)
    if found:
        raise ValueError("; ".join(found))
    return User(tags=[], **record) if "tags" not in record else User(**record)
""",
        """
from typing import TypedDict

import pytest

from m import load, problems


@pytest.mark.parametrize(
    "record, expected",
    [
        ({"name": "a", "age": 1}, []),
        ({"name": "a", "age": 1, "tags": ["x"]}, []),
        ({}, ["age: missing", "name: missing"]),
        ({"name": 5, "age": 1}, ["name: str, not int"]),
        ({"name": "a", "age": "1"}, ["age: int, not str"]),
        ({"name": "a", "age": 1, "x": 2}, ["x: unknown"]),
        ({"tags": (), "age": 1}, ["name: missing", "tags: list, not tuple"]),
    ],
)
def test_problems(record, expected):
    assert problems(record) == expected


def test_another_kind():
    class Point(TypedDict):
        x: int

    assert problems({"x": 1}, Point) == []
    assert problems({"x": "1"}, Point) == ["x: int, not str"]


def test_load():
    assert load({"name": "a", "age": 1}) == {"name": "a", "age": 1, "tags": []}
    assert load({"name": "a", "age": 1, "tags": ["t"]}) == {"name": "a", "age": 1, "tags": ["t"]}


def test_load_bad():
    with pytest.raises(ValueError) as caught:
        load({"age": "x"})
    assert str(caught.value) == "age: int, not str; name: missing"
""",
    ),
}
