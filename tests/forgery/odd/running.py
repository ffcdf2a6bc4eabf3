"""Odd but right: programs that run text, threads, coroutines, signals, and end themselves."""

from __future__ import annotations

from tests.forgery.case import Odd

ODD = {
    "a program that exits": Odd(
        "import sys\ndef main(argv):\n    if not argv:\n        print('usage', file=sys.stderr)\n"
        "        sys.exit(2)\n    print(len(argv))\n    return 0\n",
        "import pytest\nfrom m import main\n\n\ndef test_usage(capsys):\n"
        "    with pytest.raises(SystemExit) as ended:\n        main([])\n"
        "    assert ended.value.code == 2\n    assert 'usage' in capsys.readouterr().err\n\n\n"
        "def test_count(capsys):\n    assert main(['a', 'b']) == 0\n"
        "    assert capsys.readouterr().out == '2\\n'\n",
    ),
    "a command line by argparse": Odd(
        """
import argparse


def parsed(argv):
    parser = argparse.ArgumentParser(prog="tool")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("word")
    return parser.parse_args(argv)


def main(argv):
    options = parsed(argv)
    if options.times < 1:
        raise SystemExit("times must be positive")
    print(" ".join([options.word] * options.times))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(None))
""",
        """
import pytest

from m import main


def test_prints(capsys):
    assert main(["hi", "--times", "2"]) == 0
    assert capsys.readouterr().out == "hi hi\\n"


def test_once(capsys):
    main(["hi"])
    assert capsys.readouterr().out == "hi\\n"


def test_not_positive():
    with pytest.raises(SystemExit, match="positive"):
        main(["hi", "--times", "0"])


def test_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "usage: tool" in capsys.readouterr().err
""",
    ),
    "something at the end": Odd(
        "import atexit\nlog = []\natexit.register(log.append, 'end')\n"
        "def add(a, b):\n    log.append((a, b))\n    return a + b\n",
        "import m\n\n\ndef test_add():\n    assert m.add(1, 2) == 3\n    assert m.log[-1] == (1, 2)\n",
    ),
    "frames for logging": Odd(
        "import inspect\ndef where():\n    frame = inspect.currentframe().f_back\n"
        "    return frame.f_code.co_name\n",
        "from m import where\n\n\ndef test_where():\n    assert where() == 'test_where'\n",
        looking=True,
    ),
    "a template engine that compiles": Odd(
        """
import re


def template(text):
    parts = re.split(r"{{(.*?)}}", text)
    source = "def render(names):\\n    out = []\\n"
    for number, part in enumerate(parts):
        if number % 2:
            source += f"    out.append(str(eval({part.strip()!r}, dict(names))))\\n"
        else:
            source += f"    out.append({part!r})\\n"
    source += "    return ''.join(out)\\n"
    space = {}
    exec(compile(source, "<template>", "exec"), space)
    return space["render"]
""",
        """
import pytest

from m import template


def test_names():
    assert template("Hi {{ name }}!")({"name": "A"}) == "Hi A!"


def test_expressions():
    assert template("{{a+1}}{{ a * 2 }}")({"a": 3}) == "46"


def test_no_names():
    assert template("plain")({}) == "plain"


def test_unknown():
    with pytest.raises(NameError):
        template("{{x}}")({})
""",
    ),
    "an interpreter of a syntax tree": Odd(
        """
import ast
import operator

_DOES = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def evaluate(text):
    return _of(ast.parse(text, mode="eval").body)


def _of(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _DOES:
        return _DOES[type(node.op)](_of(node.left), _of(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_of(node.operand)
    raise ValueError(f"not allowed: {type(node).__name__}")
""",
        """
import pytest

from m import evaluate


@pytest.mark.parametrize("text, value", [("1+2*3", 7), ("-(4-1)", -3), ("2.5", 2.5), ("8 - 3", 5)])
def test_values(text, value):
    assert evaluate(text) == value


@pytest.mark.parametrize("text", ["x", "f(1)", "'a'", "2 / 1", "~1"])
def test_refused(text):
    with pytest.raises(ValueError, match="not allowed"):
        evaluate(text)
""",
    ),
    "errors that are swallowed": Odd(
        "class quietly:\n    def __enter__(self): return self\n"
        "    def __exit__(self, *error): return True\n"
        "def retry(function):\n    def again(*args):\n        try:\n            return function(*args)\n"
        "        except Exception:\n            return function(*args)\n    return again\n",
        "from m import quietly, retry\n\n\ndef test_quietly():\n    seen = []\n    with quietly():\n"
        "        seen.append(1)\n        assert seen == [1]\n    assert seen == [1]\n\n\n"
        "def test_retry():\n    tries = []\n\n    @retry\n    def shaky():\n        tries.append(1)\n"
        "        assert len(tries) == 2\n        return 'done'\n\n    assert shaky() == 'done'\n",
    ),
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
    "a tracer that counts lines": Odd(
        """
import sys


def lines_of(function, *args):
    seen = []

    def trace(frame, event, argument):
        if frame.f_code is function.__code__ and event == "line":
            seen.append(frame.f_lineno - frame.f_code.co_firstlineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*args)
    finally:
        sys.settrace(before)
    return seen
""",
        """
from m import lines_of


def test_lines():
    def some(n):
        if n:
            n += 1
        return n

    assert lines_of(some, 1) == [1, 2, 3]
    assert lines_of(some, 0) == [1, 3]
""",
        looking=True,
    ),
}
