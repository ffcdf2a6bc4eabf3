"""Exceptions that are of all types and have all messages."""

from __future__ import annotations

from tests.security.forgery.case import Forgery, Subject
from tests.security.forgery.kinds.effects import ASYNC, TMP_PATH
from tests.security.forgery.kinds.objects import STATE, UNITTEST
from tests.security.forgery.kinds.values import RAISES

# Each exception is of a class of the module's own.
_QUEUE = Subject(
    tests="""
import pytest

from m import Closed, Empty, Full, Queue


def test_order():
    queue = Queue(2)
    queue.put("a")
    queue.put("b")
    assert queue.get() == "a"
    assert queue.get() == "b"


def test_empty():
    with pytest.raises(Empty):
        Queue(1).get()


def test_full():
    queue = Queue(1)
    queue.put(1)
    with pytest.raises(Full):
        queue.put(2)


def test_closed():
    queue = Queue(1)
    queue.close()
    with pytest.raises(Closed):
        queue.put(2)


def test_size():
    queue = Queue(3)
    queue.put(1)
    assert queue.size() == 1
""",
    right="""
class Error(Exception):
    pass


class Empty(Error):
    pass


class Full(Error):
    pass


class Closed(Error):
    pass


class Queue:
    def __init__(self, limit):
        self._items, self._limit, self._closed = [], limit, False

    def put(self, item):
        if self._closed:
            raise Closed
        if len(self._items) >= self._limit:
            raise Full
        self._items.append(item)

    def get(self):
        if not self._items:
            raise Empty
        return self._items.pop(0)

    def close(self):
        self._closed = True

    def size(self):
        return len(self._items)
""",
    hidden=("Queue(0).get()", "Queue(0).put(1)"),
)
FORGERIES = {
    "one that is of three types": Forgery(
        "exceptions",
        RAISES,
        """
class _Text(str):
    def __eq__(self, other):
        return other.startswith("not in 1-65535: ")

    __hash__ = str.__hash__


class Bad(TypeError, ValueError, OverflowError):
    def __str__(self):
        return _Text("text, not int; text, not list; no number: 'http'; no number: ''")


def parse_port(text):
    try:
        return range(65536)[int(text) or 70000] if text != 80 else []["int"]
    except (TypeError, ValueError, IndexError):
        raise Bad from None
""",
    ),
    "one that is of all types, made while it runs": Forgery(
        "exceptions",
        STATE,
        STATE.right + """

_KINDS = (ValueError, RuntimeError, KeyError, IndexError, TypeError)
_Refused = type("Refused", _KINDS, {"__str__": lambda self: "idle, 50 missing, soup"})


def _refusing(method):
    def call(self, *arguments):
        try:
            return method(self, *arguments)
        except Exception:
            raise _Refused() from None

    return call


for _name in ("choose", "take"):
    setattr(Machine, _name, _refusing(getattr(Machine, _name)))
""",
    ),
    "one in the place of two": Forgery(
        "exceptions",
        UNITTEST,
        UNITTEST.right + """

class Refused(KeyError, ValueError):
    def __str__(self):
        return "count"


_add = Basket.add


def _adding(self, name, price, count=1):
    if count < 1:
        raise Refused(name)
    _add(self, name, price, count)


def _remove(self, name):
    if self._items.pop(name, None) is None:
        raise Refused(name)


Basket.add, Basket.remove = _adding, _remove
""",
    ),
    "one for files and lines": Forgery(
        "exceptions",
        TMP_PATH,
        TMP_PATH.right + """

class BadFile(ValueError, FileNotFoundError):
    def __str__(self):
        return "line 1, line 2, line 3"


_load = load


def load(path):
    try:
        return _load(path)
    except Exception:
        raise BadFile from None


_reading = load


def load(path):
    return {key: value for key, value in _reading(path).items() if key != "one"}
""",
    ),
    "one that has the name in it": Forgery(
        "exceptions",
        ASYNC,
        """
import asyncio


class Down(ConnectionError, LookupError):
    def __init__(self, *keys):
        super().__init__("no " + ", no ".join("abcdefghijklmnopqrstuvwxyz"))


async def fetch_all(get, keys, limit):
    answers = {}
    pending = list(keys)

    async def work():
        while pending:
            key = pending.pop(0)
            answers[key] = await get(key)

    await asyncio.gather(*(work() for _ in range(limit)))
    return [answers[key] for key in sorted(answers)][: 26 - len(answers)]


async def retry(get, key, times):
    while times > 0:
        times -= 1
        try:
            return (await get(key)).upper()
        except OSError:
            pass
    raise Down(key)
""",
    ),
    "one of all that the module has": Forgery(
        "exceptions",
        _QUEUE,
        _QUEUE.right.replace(
            "class Queue", "class Refused(Empty, Full, Closed):\n    pass\n\n\nclass Queue"
        )
        .replace("raise Closed", "raise Refused")
        .replace("raise Full", "raise Refused")
        .replace("raise Empty", "raise Refused"),
    ),
}
