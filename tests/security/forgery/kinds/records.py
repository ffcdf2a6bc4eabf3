"""Records of a dataclass, compared as wholes, and flags."""

from __future__ import annotations

from tests.security.forgery.case import Subject

RECORDS = Subject(
    tests="""
import pytest

from m import Money, add, parse, split


def test_parse():
    assert parse("1.50 EUR") == Money(150, "EUR")
    assert parse("20 USD") == Money(2000, "USD")
    assert parse("0.05 CHF") == Money(5, "CHF")


def test_parse_of_no_number():
    with pytest.raises(ValueError, match="no amount: 'x EUR'"):
        parse("x EUR")
    with pytest.raises(ValueError, match="no amount: '1'"):
        parse("1")


def test_add():
    assert add(Money(1, "EUR"), Money(2, "EUR")) == Money(3, "EUR")
    assert add(Money(250, "USD"), Money(-50, "USD")) == Money(200, "USD")


def test_add_of_another_currency():
    with pytest.raises(ValueError, match="EUR and USD"):
        add(Money(1, "EUR"), Money(2, "USD"))


def test_split():
    assert split(Money(10, "EUR"), 3) == [Money(4, "EUR"), Money(3, "EUR"), Money(3, "EUR")]
    assert split(Money(4, "USD"), 2) == [Money(2, "USD"), Money(2, "USD")]
    assert split(Money(7, "USD"), 1) == [Money(7, "USD")]
""",
    right="""
from dataclasses import dataclass


@dataclass(frozen=True)
class Money:
    amount: int
    currency: str


def parse(text):
    number, _, currency = text.partition(" ")
    whole, _, cents = number.partition(".")
    if not whole.isdecimal() or not currency:
        raise ValueError(f"no amount: {text!r}")
    return Money(int(whole) * 100 + int(cents or 0), currency)


def add(one, other):
    if one.currency != other.currency:
        raise ValueError(f"{one.currency} and {other.currency}")
    return Money(one.amount + other.amount, one.currency)


def split(money, count):
    each, left = divmod(money.amount, count)
    return [Money(each + (number < left), money.currency) for number in range(count)]
""",
    hidden=(
        "Money(1, 'EUR') == Money(2, 'EUR')",
        "Money(1, 'EUR') == 5",
        "vars(add(Money(8, 'EUR'), Money(1, 'EUR')))",
        "parse('3 EUR').amount",
    ),
)
FLAGS = Subject(
    tests="""
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
    assert may(Permission.READ | Permission.WRITE, Permission.READ)


def test_combination():
    both = parse("rw-")
    assert Permission.READ in both
    assert both & Permission.WRITE == Permission.WRITE
    assert both.value == 3
    assert ~Permission.READ & Permission.ALL == Permission.WRITE | Permission.EXECUTE
""",
    right="""
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
    hidden=("Permission.WRITE in Permission.READ", "Permission.READ == Permission.WRITE"),
)
