"""Values to JSON and back, with references to what stays on the other side.

Tags beside those of `plain`: `t` tuple, `z` frozenset, `r` range, `l` slice, `@` container, `g` by
name, `o` an object of the sender, `y` one of the receiver, `e` enum member, `n` named tuple.
"""

from __future__ import annotations

import binascii
import decimal
from collections.abc import Callable
from typing import Any

from . import plain
from .containers import BY_TYPE
from .errors import Broken
from .heap import Heap

_MOST_OBJECTS = 100_000
_FLAWED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


class Codec:
    """One side's. `describe(value)` gives its description; `refer(value)` JSON of what has no tag."""

    def __init__(self, first: int) -> None:
        self.heap = Heap(first, self.encode, self.decode)
        self.ours: dict[int, Any] = {}
        self.theirs: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._their_numbers: dict[int, int] = {}
        self._news: list[int] = []
        self._told: dict[int, Any] = {}
        self.refer: Callable[[Any], Any]
        self.describe: Callable[[Any], dict[str, Any]]
        self.mirror: Callable[[dict[str, Any]], Any]
        self.by_name: Callable[[Any, Any], Any]

    def encode(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind is bool:
            return value
        said = plain.exact(value)
        if said is not None:
            return said
        number = self._their_numbers.get(id(value))
        if number is not None:
            return ["y", number]
        if kind in BY_TYPE:
            return ["@", self.heap.number(value, BY_TYPE[kind])]
        if kind is tuple:
            return ["t", [self.encode(item) for item in value]]
        if kind is frozenset:
            return ["z", [self.encode(item) for item in value]]
        if kind is range or kind is slice:
            parts = [self.encode(item) for item in (value.start, value.stop, value.step)]
            return ["r" if kind is range else "l", parts]
        return self.refer(value)

    def own(self, value: Any) -> Any:
        """A reference to an object that stays here."""
        number = self._numbers.get(id(value))
        if number is None:
            number = len(self.ours)
            if number >= _MOST_OBJECTS:
                raise Broken(f"more than {_MOST_OBJECTS} objects are known to both sides")
            self.ours[number] = value
            self._numbers[id(value)] = number
            self._news.append(number)
        return ["o", number]

    def gave(self, value: Any) -> bool:
        """Whether this side handed out a reference to exactly this object."""
        return id(value) in self._numbers

    def known(self, number: int, value: Any) -> None:
        """`value` stands here for the other side's object of this number."""
        if len(self.theirs) >= _MOST_OBJECTS:
            raise Broken(f"more than {_MOST_OBJECTS} objects are known to both sides")
        self.theirs[number] = value
        self._their_numbers[id(value)] = number

    def number_of(self, value: Any) -> int | None:
        """The other side's number of what `value` stands for."""
        return self._their_numbers.get(id(value))

    def packed(self, value: Any) -> dict[str, Any]:
        """A value with all that has to be told with it."""
        message: dict[str, Any] = {"value": self.encode(value)}
        news: list[Any] = []
        heap: list[Any] = []
        while True:
            heap += self.heap.changes()
            if not self._news:
                break
            waiting, self._news = self._news, []
            news += [[number, self.describe(self.ours[number])] for number in waiting]
        if heap:
            message["heap"] = heap
        if news:
            message["news"] = news
        return message

    def unpacked(self, message: dict[str, Any]) -> Any:
        """The value. Raises Broken where the message makes no sense."""
        try:
            for number, said in message.get("news", ()):
                if type(number) is not int or number in self.theirs or len(self._told) > 10_000:
                    raise Broken("it described an object twice")
                self._told[number] = said
            self.heap.take(message.get("heap", ()))
            for number in list(self._told):
                self._theirs(number)
            return self.decode(message.get("value"))
        except (*_FLAWED, binascii.Error, decimal.InvalidOperation) as error:
            raise Broken(f"it sent what is no value: {type(error).__name__}: {error}") from None

    def _theirs(self, number: Any) -> Any:
        if number not in self.theirs:
            made = self.mirror(self._told.pop(number))
            self.known(number, made)
        return self.theirs[number]

    def decode(self, said: Any) -> Any:
        if not isinstance(said, list):
            if said is None or isinstance(said, (bool, int, float, str)):
                return said
            raise Broken("it sent what is no value")
        tag, content = said
        if tag == "@":
            return self.heap.value(content)
        if tag == "o":
            return self._theirs(content)
        if tag == "y":
            return self.ours[content]
        if tag in _SEQUENCES:
            return _SEQUENCES[tag]([self.decode(item) for item in content])
        if tag == "g":
            return self.by_name(*content)
        if tag == "e":
            return self._member(content)
        if tag == "n":
            return self._named(content)
        return plain.back(tag, content)

    def _member(self, content: Any) -> Any:
        kind, name, value = self.decode(content[0]), content[1], content[2]
        if not isinstance(kind, type) or not hasattr(kind, "__members__"):
            raise TypeError("it is no enum")
        return kind.__members__[name] if name is not None else kind(self.decode(value))

    def _named(self, content: Any) -> Any:
        kind = self.decode(content[0])
        if not isinstance(kind, type) or not issubclass(kind, tuple):
            raise TypeError("it is no named tuple")
        return tuple.__new__(kind, [self.decode(item) for item in content[1]])


_SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {
    "t": tuple,
    "z": frozenset,
    "r": lambda parts: range(*parts),
    "l": lambda parts: slice(*parts),
}
