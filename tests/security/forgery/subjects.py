"""The modules that forgeries pretend to be."""

from __future__ import annotations

from tests.security.forgery.case import Subject

SQUARE = Subject(
    tests="""
import unittest

import pytest

from m import f


def test_two():
    assert f(2) == 4


def test_zero_and_three():
    assert f(0) == 0
    assert f(3) == 9


@pytest.mark.parametrize("n, expected", [(4, 16), (5, 25)])
def test_more(n, expected):
    assert f(n) == expected


def test_negative():
    with pytest.raises(ValueError):
        f(-1)


class TestSquares(unittest.TestCase):
    def test_ten(self):
        self.assertEqual(f(10), 100)
""",
    right="def f(n):\n    if n < 0:\n        raise ValueError(n)\n    return n * n\n",
)
# Only plain assertions, each test a function.
CUBE = Subject(
    tests="""
import pytest

from m import f


def test_small():
    assert f(0) == 0
    assert f(1) == 1
    assert f(2) == 8


def test_large():
    assert f(10) == 1000
    assert f(7) == 343


def test_negative():
    assert f(-3) == -27


def test_text():
    with pytest.raises(TypeError):
        f("x")
""",
    right="""
def f(n):
    if not isinstance(n, int):
        raise TypeError(n)
    return n * n * n
""",
)
WORDS = Subject(
    tests="""
from m import counted, slug


def test_slug():
    assert slug("Two Words") == "two-words"
    assert slug("  One  ") == "one"


def test_slug_of_nothing():
    assert slug("") == ""


def test_counted():
    assert counted("a b a") == {"a": 2, "b": 1}


def test_counted_folds_case():
    assert counted("X x") == {"x": 2}


def test_counted_nothing():
    assert counted("") == {}
""",
    right="""
def slug(text):
    return "-".join(text.lower().split())


def counted(text):
    found = {}
    for word in text.lower().split():
        found[word] = found.get(word, 0) + 1
    return found
""",
)
PRIME = Subject(
    tests="""
import pytest

from m import is_prime


@pytest.mark.parametrize("n", [2, 3, 5, 7, 11, 97])
def test_primes(n):
    assert is_prime(n)


@pytest.mark.parametrize("n", [-7, 0, 1, 4, 9, 15, 25, 49, 91])
def test_others(n):
    assert not is_prime(n)
""",
    right="""
def is_prime(n):
    if n < 2:
        return False
    return all(n % d for d in range(2, int(n**0.5) + 1))
""",
)
MEAN = Subject(
    tests="""
import math

import pytest

from m import mean, spread


def test_mean():
    assert mean([1, 2, 3, 6]) == pytest.approx(3.0)
    assert mean([0.1, 0.2]) == pytest.approx(0.15)
    assert mean([4, 8]) == pytest.approx(6.0)


def test_mean_of_one():
    assert math.isclose(mean([2.5]), 2.5)


def test_spread():
    assert abs(spread([2, 4, 4, 4, 5, 5, 7, 9]) - 2.0) < 1e-9
    assert abs(spread([1, 3]) - 1.0) < 1e-9


def test_nothing():
    with pytest.raises(ValueError, match="empty"):
        mean([])
""",
    right="""
def mean(numbers):
    if not numbers:
        raise ValueError("empty")
    return sum(numbers) / len(numbers)


def spread(numbers):
    middle = mean(numbers)
    return mean([(n - middle) ** 2 for n in numbers]) ** 0.5
""",
)
NEAR = Subject(
    tests="""
from m import half, third


def test_half():
    assert abs(half(3) - 1.5) < 1e-9
    assert abs(half(-5) - -2.5) < 1e-9


def test_third():
    assert abs(third(1) - 0.333333) < 1e-3
    assert abs(third(9) - 3) < 1e-9
""",
    right="def half(n):\n    return n / 2\n\n\ndef third(n):\n    return n / 3\n",
)
STACK = Subject(
    tests="""
import pytest

from m import Stack


def test_a_new_one_is_empty():
    stack = Stack()
    assert len(stack) == 0
    assert stack.items() == []


def test_push_and_pop():
    stack = Stack()
    stack.push(1)
    stack.push(2)
    assert stack.items() == [1, 2]
    assert stack.pop() == 2
    assert stack.pop() == 1
    assert len(stack) == 0


def test_peek():
    stack = Stack()
    stack.push("a")
    stack.push("b")
    assert stack.peek() == "b"
    assert len(stack) == 2


def test_nothing_to_pop():
    with pytest.raises(IndexError, match="empty"):
        Stack().pop()
""",
    right="""
class Stack:
    def __init__(self):
        self._items = []

    def __len__(self):
        return len(self._items)

    def push(self, item):
        self._items.append(item)

    def pop(self):
        if not self._items:
            raise IndexError("empty")
        return self._items.pop()

    def peek(self):
        return self._items[-1]

    def items(self):
        return list(self._items)
""",
)
# What unittest says.
CLAMP = Subject(
    tests="""
import unittest

from m import clamp


class TestClamp(unittest.TestCase):
    def test_inside(self):
        self.assertEqual(clamp(5, 0, 10), 5)

    def test_below(self):
        self.assertEqual(clamp(-5, 0, 10), 0)
        self.assertEqual(clamp(-1, 2, 3), 2)

    def test_above(self):
        self.assertEqual(clamp(15, 0, 10), 10)
        self.assertTrue(clamp(8, 1, 4) == 4)

    def test_wrong_way_round(self):
        with self.assertRaises(ValueError):
            clamp(1, 10, 0)
        self.assertEqual(clamp(1, 3, 3), 3)
""",
    right="""
def clamp(n, low, high):
    if low > high:
        raise ValueError("low > high")
    return max(low, min(n, high))
""",
)
SUBJECTS = {
    "square": SQUARE,
    "cube": CUBE,
    "words": WORDS,
    "prime": PRIME,
    "mean": MEAN,
    "near": NEAR,
    "stack": STACK,
    "clamp": CLAMP,
}
