"""Odd but right: coroutines, threads, signals, generators, recursion."""

from __future__ import annotations

from tests.security.forgery.case import Odd

ODD = {
    "coroutines": Odd(
        """
import asyncio


async def gathered(*values):
    async def one(value):
        await asyncio.sleep(0)
        return value * 2

    return await asyncio.gather(*(one(value) for value in values))


async def first(waiting, timeout):
    return await asyncio.wait_for(waiting, timeout)


def run(*values):
    return asyncio.run(gathered(*values))
""",
        """
import asyncio

import pytest

from m import first, gathered, run


def test_run():
    assert run(1, 2) == [2, 4]
    assert asyncio.run(gathered()) == []


def test_times_out():
    async def never():
        await asyncio.sleep(60)

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(first(never(), 0.01))


def test_first():
    async def now():
        return "x"

    assert asyncio.run(first(now(), 5)) == "x"
""",
    ),
    "threads": Odd(
        """
import threading


class Counter:
    def __init__(self):
        self._lock = threading.Lock()
        self.value = 0

    def add(self, times):
        for _ in range(times):
            with self._lock:
                self.value += 1


def counted(threads, times):
    counter = Counter()
    running = [threading.Thread(target=counter.add, args=(times,)) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return counter.value
""",
        """
from m import Counter, counted


def test_counted():
    assert counted(4, 100) == 400
    assert counted(0, 5) == 0


def test_counter():
    counter = Counter()
    counter.add(3)
    assert counter.value == 3
""",
    ),
    "signal handlers": Odd(
        """
import contextlib
import signal


@contextlib.contextmanager
def deferred(number=signal.SIGUSR1):
    seen = []
    before = signal.signal(number, lambda n, frame: seen.append(n))
    try:
        yield seen
    finally:
        signal.signal(number, before)
""",
        """
import os
import signal

from m import deferred


def test_deferred():
    before = signal.getsignal(signal.SIGUSR1)
    with deferred() as seen:
        os.kill(os.getpid(), signal.SIGUSR1)
        assert seen == [signal.SIGUSR1]
    assert signal.getsignal(signal.SIGUSR1) == before
""",
    ),
    "generators that are sent to": Odd(
        """
def averager():
    total, count, mean = 0, 0, None
    while True:
        value = yield mean
        total, count = total + value, count + 1
        mean = total / count


def flattened(items):
    for item in items:
        if isinstance(item, list):
            yield from flattened(item)
        else:
            yield item
""",
        """
from m import averager, flattened


def test_averager():
    means = averager()
    assert next(means) is None
    assert means.send(4) == 4
    assert means.send(8) == 6


def test_flattened():
    assert list(flattened([1, [2, [3]], []])) == [1, 2, 3]
    assert list(flattened([])) == []
""",
    ),
    "deep recursion": Odd(
        """
import sys


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def deep(n):
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(n + 500)
    try:
        return depth(n)
    finally:
        sys.setrecursionlimit(before)
""",
        """
import sys

import pytest

from m import deep, depth


def test_deep():
    before = sys.getrecursionlimit()
    assert deep(2000) == 2000
    assert sys.getrecursionlimit() == before


def test_shallow():
    assert depth(3) == 3
    with pytest.raises(RecursionError):
        depth(100_000)
""",
    ),
}
