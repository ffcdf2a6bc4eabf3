"""Functions of plain values: plain assertions, parametrize, raises, approx, loops over drawn inputs."""

from __future__ import annotations

from tests.security.forgery.case import Subject

PLAIN = Subject(
    tests="""
from m import roman


def test_single_letters():
    assert roman(1) == "I"
    assert roman(5) == "V"
    assert roman(10) == "X"
    assert roman(50) == "L"


def test_larger_letters():
    assert roman(100) == "C"
    assert roman(500) == "D"
    assert roman(1000) == "M"


def test_repeated_letters():
    assert roman(3) == "III"
    assert roman(2000) == "MM"


def test_subtraction():
    assert roman(4) == "IV"
    assert roman(9) == "IX"
    assert roman(40) == "XL"
    assert roman(90) == "XC"
    assert roman(400) == "CD"
    assert roman(900) == "CM"


def test_long_number():
    assert roman(1994) == "MCMXCIV"
    assert roman(3888) == "MMMDCCCLXXXVIII"
""",
    right="""
_LETTERS = [
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
    (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
]


def roman(n):
    text = ""
    for value, letters in _LETTERS:
        while n >= value:
            text += letters
            n -= value
    return text
""",
    hidden=(
        "[roman(7) for _ in range(300)][-1]",
        "roman(7)",
        "roman(49)",
        "roman(1666)",
        "roman(2421)",
        "roman(4)",
    ),
)
PARAMETRIZE = Subject(
    tests="""
import pytest

from m import triangle


@pytest.mark.parametrize(
    "sides, expected",
    [
        ((3, 3, 3), "equilateral"),
        ((5, 5, 8), "isosceles"),
        ((5, 8, 5), "isosceles"),
        ((8, 5, 5), "isosceles"),
        ((3, 4, 5), "scalene"),
        ((7, 10, 5), "scalene"),
    ],
)
def test_kind(sides, expected):
    assert triangle(*sides) == expected


@pytest.mark.parametrize("sides", [(1, 2, 3), (1, 3, 1), (9, 2, 2), (0, 0, 0), (2, 9, 3)], ids=str)
def test_impossible(sides):
    assert triangle(*sides) is None


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("more, expected", [(0, "equilateral"), (0.5, "isosceles")])
def test_scaled(n, more, expected):
    assert triangle(n, n, n + more * n) == expected
""",
    right="""
def triangle(a, b, c):
    low, middle, high = sorted((a, b, c))
    if low + middle <= high:
        return None
    return {1: "equilateral", 2: "isosceles", 3: "scalene"}[len({a, b, c})]
""",
    hidden=("triangle(9, 9, 9)", "triangle(6, 7, 8)", "triangle(4, 4, 7)", "triangle(1, 1, 9)"),
)
RAISES = Subject(
    tests="""
import pytest

from m import parse_port


def test_ports():
    assert parse_port("1") == 1
    assert parse_port("80") == 80
    assert parse_port(" 443 ") == 443
    assert parse_port("65535") == 65535


def test_type():
    with pytest.raises(TypeError, match="text, not int"):
        parse_port(80)
    with pytest.raises(TypeError, match="text, not list"):
        parse_port([])


def test_no_number():
    with pytest.raises(ValueError, match="no number: 'http'"):
        parse_port("http")
    with pytest.raises(ValueError, match="no number: ''"):
        parse_port("")


@pytest.mark.parametrize("text", ["0", "65536", "99999"])
def test_range(text):
    with pytest.raises(OverflowError) as caught:
        parse_port(text)
    assert str(caught.value) == f"not in 1-65535: {text}"
""",
    right="""
def parse_port(text):
    if not isinstance(text, str):
        raise TypeError(f"text, not {type(text).__name__}")
    if not text.strip().isdecimal():
        raise ValueError(f"no number: {text!r}")
    port = int(text)
    if not 1 <= port <= 65535:
        raise OverflowError(f"not in 1-65535: {port}")
    return port
""",
    hidden=("parse_port('8080')", "parse_port('22')", "parse_port('70000')", "parse_port('x1')"),
)
APPROX = Subject(
    tests="""
import math

import pytest

from m import deviation, median


def test_median():
    assert median([3, 1, 2]) == pytest.approx(2)
    assert median([4.0, 1.0]) == pytest.approx(2.5)
    assert median([0.1, 0.2, 0.3, 0.4]) == pytest.approx(0.25)
    assert median([7]) == pytest.approx(7)


def test_deviation():
    assert deviation([2, 4, 4, 4, 5, 5, 7, 9]) == pytest.approx(2.0)
    assert deviation([1, 3]) == pytest.approx(1.0, abs=1e-9)
    assert math.isclose(deviation([0.5, 1.0, 3.0]), 1.0801234, rel_tol=1e-6)


def test_deviation_of_equal_numbers():
    assert deviation([5, 5, 5]) == pytest.approx(0)


def test_no_numbers():
    with pytest.raises(ValueError, match="no numbers"):
        median([])
    with pytest.raises(ValueError, match="no numbers"):
        deviation([])
""",
    right="""
def median(numbers):
    if not numbers:
        raise ValueError("no numbers")
    ordered = sorted(numbers)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def deviation(numbers):
    if not numbers:
        raise ValueError("no numbers")
    mean = sum(numbers) / len(numbers)
    return (sum((n - mean) ** 2 for n in numbers) / len(numbers)) ** 0.5
""",
    hidden=(
        "median([9, 4, 30])",
        "median([1, 2, 5, 8])",
        "deviation([1, 5])",
        "deviation([2, 8, 5])",
    ),
)
PROPERTY = Subject(
    tests="""
import random

from m import decode, encode

SEED = 20261
LETTERS = "aabbc "


def drawn(count):
    rng = random.Random(SEED)
    for _ in range(count):
        yield "".join(rng.choice(LETTERS) for _ in range(rng.randrange(20)))


def test_round_trip():
    for text in drawn(60):
        assert decode(encode(text)) == text


def test_never_longer_than_twice():
    for text in drawn(60):
        assert len(encode(text)) <= 2 * len(text)


def test_runs():
    assert encode("aaabccd") == "3ab2cd"
    assert encode("") == ""
    assert encode("zz  z") == "2z2 z"
    assert encode("x" * 12) == "12x"


def test_decoded():
    assert decode("3ab2c") == "aaabcc"
    assert decode("10q") == "qqqqqqqqqq"
    assert decode("2a11b") == "aabbbbbbbbbbb"
""",
    right="""
import re
from itertools import groupby


def encode(text):
    parts = []
    for letter, run in groupby(text):
        count = len(list(run))
        parts.append(letter if count == 1 else f"{count}{letter}")
    return "".join(parts)


def decode(text):
    found = re.findall(r"([0-9]*)(.)", text)
    return "".join(letter * int(count or 1) for count, letter in found)
""",
    hidden=("encode('hhhi')", "encode('abbbbb')", "decode('4xy')", "decode('2o3p')"),
)
