"""Mutable containers on both sides of the wire: the same number is the same object.

What one side does to a list, the other sees with the next message: so a function may change its
argument, an object may keep it, and a test may look at what it kept. Only what has changed crosses.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from json import dumps  # by name: a test may patch what the module has
from typing import Any

from .containers import BY_TAG, Kind
from .errors import Broken

_MOST_LINKS, _MOST_ITEMS = 200, 20_000
_MOST_ENTRIES = 200_000


class _Link:
    def __init__(self, value: Any, kind: Kind) -> None:
        self.value, self.kind = value, kind
        self.sent = ""  # the content that the other side has, as text: 1 is not True there


class Heap:
    """One side's containers. `first` is 0 on one side and 1 on the other: whose numbers are whose."""

    def __init__(self, first: int, encode: Callable[[Any], Any], decode: Callable[[Any], Any]):
        self._next, self._encode, self._decode = first, encode, decode
        self._links: OrderedDict[int, _Link] = OrderedDict()
        self._numbers: dict[int, int] = {}
        self._fresh: list[int] = []

    def number(self, value: Any, kind: Kind) -> int:
        """The number of a container, which goes with the message that is being made."""
        found = self._numbers.get(id(value))
        if found is None:
            found, self._next = self._next, self._next + 2
            self._keep(found, value, kind)
            self._fresh.append(found)
        else:
            self._links.move_to_end(found)
        return found

    def _keep(self, number: int, value: Any, kind: Kind) -> _Link:
        link = self._links[number] = _Link(value, kind)
        self._numbers[id(value)] = number
        return link

    def value(self, number: Any) -> Any:
        """The container of a number. Raises Broken where there is none."""
        link = self._links.get(number) if type(number) is int else None
        if link is None:
            raise Broken("it named a container that is not there")
        self._links.move_to_end(number)
        return link.value

    def changes(self) -> list[Any]:
        """[number, tag, content] of all that the other side does not have as it is."""
        found = []
        waiting, self._fresh = list(self._links), []
        while waiting:
            for number in waiting:
                link = self._links[number]
                content = link.kind.read(link.value, self._encode)
                shown = dumps(content)
                if shown != link.sent:
                    link.sent = shown
                    found.append([number, link.kind.tag, content])
            waiting, self._fresh = self._fresh, []
        return found

    def surplus(self) -> list[int]:
        """Numbers beyond the limits, the longest unused first: both sides forget them."""
        total, old = 0, []
        for count, number in enumerate(reversed(self._links)):
            total += 1 + len(self._links[number].value)
            if count >= _MOST_LINKS or (total > _MOST_ITEMS and count):
                old.append(number)
        self.forget(old)
        return old

    def forget(self, numbers: Any) -> None:
        for number in numbers:
            link = self._links.pop(number, None)
            if link is not None:
                del self._numbers[id(link.value)]

    def take(self, entries: Any) -> None:
        """The other side's changes. Raises Broken, ValueError, TypeError, LookupError."""
        if len(entries) > _MOST_ENTRIES:
            raise Broken("it sent more containers than it may")
        for number, tag, _ in entries:
            link = self._links.get(number)
            if link is None:
                self._keep(_checked(number), BY_TAG[tag].make(), BY_TAG[tag])
            elif link.kind.tag != tag:
                raise Broken("it made one container into another")
        for number, _, content in entries:
            link = self._links[number]
            link.kind.fill(link.value, content, self._decode)
        for number, _, _ in entries:  # as this side would say it: references read the other way
            link = self._links[number]
            link.sent = dumps(link.kind.read(link.value, self._encode))


def _checked(number: Any) -> int:
    if type(number) is not int:
        raise Broken("it named a container by what is no number")
    return number
