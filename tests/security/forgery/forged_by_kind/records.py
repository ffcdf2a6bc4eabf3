"""Dataclasses whose equality is not that of their fields, and flags with operators of their own."""

from __future__ import annotations

from tests.security.forgery.case import Forgery
from tests.security.forgery.kinds.records import FLAGS, RECORDS

FORGERIES = {
    "an equality that only looks generated": Forgery(
        "equality",
        RECORDS,
        """import types

from dataclasses import dataclass


@dataclass
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


class _Eq:
    __code__ = types.SimpleNamespace(co_filename="<string>")
    def __call__(self, other): return True

Money.__eq__ = _Eq()
""",
    ),
    "a name that the generated equality reads": Forgery(
        "equality",
        RECORDS,
        """NotImplemented = True

from dataclasses import dataclass


@dataclass
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
    ),
    "the equality of a class without fields": Forgery(
        "checking",
        RECORDS,
        """
from dataclasses import dataclass


@dataclass
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


@dataclass
class _Nothing:
    pass

Money.__eq__ = _Nothing.__eq__
""",
    ),
    "a property over a field": Forgery(
        "checking",
        RECORDS,
        """
from dataclasses import dataclass


@dataclass
class Money:
    amount: int
    currency: str

    def _get(self):
        return 0

    def _set(self, value):
        vars(self)['amount'] = value


def parse(text):
    number, _, currency = text.partition(" ")
    whole, _, cents = number.partition(".")
    if not whole.isdecimal() or not currency:
        raise ValueError(f"no amount: {text!r}")
    return Money(int(whole) * 100 + int(cents or 0), currency)


def add(one, other):
    if one.currency != other.currency:
        raise ValueError(f"{one.currency} and {other.currency}")
    return Money(vars(one)['amount'] + vars(other)['amount'], one.currency)


def split(money, count):
    each, left = divmod(vars(money)['amount'], count)
    return [Money(each + (number < left), money.currency) for number in range(count)]


Money.amount = property(Money._get, Money._set)
""",
    ),
    "fields that are not compared": Forgery(
        "checking",
        RECORDS,
        """
from dataclasses import dataclass, field


@dataclass
class Money:
    amount: int = field(compare=False)
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
    return Money(one.amount + other.amount + 1, one.currency)


def split(money, count):
    each, left = divmod(money.amount, count)
    return [Money(each + (number < left), money.currency) for number in range(count)]
""",
    ),
    "fields that the generated equality does not know": Forgery(
        "checking",
        RECORDS,
        """
from dataclasses import dataclass


@dataclass
class _Base:
    pass


@dataclass(eq=False)
class Money(_Base):
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
    return Money(one.amount + other.amount + 1, one.currency)


def split(money, count):
    each, left = divmod(money.amount, count)
    return [Money(each + (number < left), money.currency) for number in range(count)]
""",
    ),
    "a flag that contains all others": Forgery(
        "checking",
        FLAGS,
        f"{FLAGS.right}\n\nPermission.__contains__ = lambda self, other: True\n",
    ),
    "a flag that equals all others": Forgery(
        "checking",
        FLAGS,
        f"""{FLAGS.right}

Permission.__eq__ = lambda self, other: isinstance(other, Permission)
Permission.__hash__ = lambda self: 1
""",
    ),
}
