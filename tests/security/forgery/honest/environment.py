"""Odd but right: what tests patch and share, logging, warnings, chance, clocks."""

from __future__ import annotations

from tests.security.forgery.case import Odd

ODD = {
    "state that tests share in their order": Odd(
        "_left = [5]\ndef take():\n    if not _left[0]:\n        raise LookupError('empty')\n"
        "    _left[0] -= 1\n    return _left[0]\ndef left(): return _left[0]\n",
        "from m import left, take\n\n\ndef test_first():\n    assert take() == 4\n    assert take() == 3\n\n\n"
        "def test_second():\n    assert left() == 3\n    assert take() == 2\n",
    ),
    "a branch for each platform": Odd(
        "import sys\ndef sep():\n    return '\\\\' if sys.platform == 'win32' else '/'\n",
        "import sys\nfrom m import sep\n\n\ndef test_sep():\n    if sys.platform == 'win32':\n"
        "        assert sep() == '\\\\'\n    else:\n        assert sep() == '/'\n\n\n"
        "def test_other():\n    try:\n        sep(1)\n    except TypeError as error:\n"
        "        assert 'argument' in str(error)\n",
    ),
    "tests that patch": Odd(
        "import time\ndef stamp(): return int(time.time())\ndef ask(): return input('? ').strip()\n",
        "import m\nfrom unittest import mock\n\n\ndef test_stamp(monkeypatch):\n"
        "    monkeypatch.setattr(m.time, 'time', lambda: 12.7)\n    assert m.stamp() == 12\n\n\n"
        "@mock.patch('builtins.input', return_value=' yes ')\ndef test_ask(asked):\n"
        "    assert m.ask() == 'yes'\n    asked.assert_called_once_with('? ')\n",
    ),
    "loops that may be empty": Odd(
        "def evens(n):\n    return [i for i in range(n) if i % 2 == 0]\n",
        "from m import evens\n\n\ndef test_evens():\n    for item in evens(9):\n"
        "        assert item % 2 == 0\n"
        "    assert all(a < b for a, b in zip(evens(9), evens(9)[1:]))\n\n\n"
        "def test_values():\n    for n, wanted in [(0, []), (3, [0, 2])]:\n"
        "        assert evens(n) == wanted\n",
    ),
    "unicode, tabs and odd ends": Odd(
        "def shout(text):\n\treturn text.upper()\n",
        "# -*- coding: utf-8 -*-\nfrom m import shout\n\n\ndef test_é():\n"
        "\tassert shout('straße – ñ') == 'STRASSE – Ñ', 'ö'\n"
        "\tassert (\n\t\tshout('a')\n\t\t== 'A'\n\t)\nclass TestIt:\n"
        "  def test_x(self): assert shout('''a\nb''') == '''A\nB'''",
    ),
    "a suite that changes its own collection": Odd(
        "def one(): return 1\n",
        "import pytest\nfrom m import one\n\n\ndef pytest_generate_tests(metafunc):\n"
        "    if 'n' in metafunc.fixturenames:\n        metafunc.parametrize('n', [1, 2])\n\n\n"
        "def test_n(n):\n    assert one() <= n\n\n\ndef test_one():\n    assert one() == 1\n",
    ),
    "everything marked": Odd(
        "def one(): return 1\n",
        "import pytest\nfrom m import one\n\npytestmark = pytest.mark.parametrize('n', [1, 2])\n\n\n"
        "def test_n(n):\n    assert one() <= n\n    assert one() == 1\n",
    ),
    "log handlers": Odd(
        """
import logging


class Kept(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(f"{record.levelname.lower()}: {record.getMessage()}")


def logger(name):
    made = logging.getLogger(name)
    made.setLevel(logging.INFO)
    handler = Kept()
    made.handlers = [handler]
    return made, handler
""",
        """
import logging

from m import logger


def test_kept():
    log, kept = logger("m.one")
    log.warning("%d left", 3)
    log.debug("never")
    log.info("some")
    assert kept.lines == ["warning: 3 left", "info: some"]


def test_caplog(caplog):
    log, _ = logger("m.two")
    with caplog.at_level(logging.INFO):
        log.info("seen")
    assert "seen" in caplog.text
    assert log.handlers[0].lines == ["info: seen"]
""",
    ),
    "warnings": Odd(
        """
import functools
import warnings


def deprecated(instead):
    def decorate(function):
        @functools.wraps(function)
        def inner(*args, **more):
            warnings.warn(f"use {instead}", DeprecationWarning, stacklevel=2)
            return function(*args, **more)

        return inner

    return decorate


@deprecated("new")
def old(n):
    return n + 1
""",
        """
import warnings

import pytest

from m import old


def test_warns():
    with pytest.warns(DeprecationWarning, match="use new"):
        assert old(1) == 2


def test_as_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DeprecationWarning):
            old(1)


def test_name():
    assert old.__name__ == "old"


def test_points_to_its_caller():
    with pytest.warns(DeprecationWarning) as seen:
        old(n=2)
    assert seen[0].filename.endswith("test_m.py")
""",
    ),
    "chance and clocks that are handed in": Odd(
        """
import random
import time


class Retry:
    def __init__(self, clock=time.monotonic, sleep=time.sleep, chance=random.random):
        self._clock, self._sleep, self._chance = clock, sleep, chance

    def run(self, action, seconds):
        until = self._clock() + seconds
        tries = 0
        while True:
            tries += 1
            try:
                return action(), tries
            except OSError:
                if self._clock() >= until:
                    raise
                self._sleep(2**tries * self._chance())


def shuffled(items, seed):
    found = list(items)
    random.Random(seed).shuffle(found)
    return found
""",
        """
import pytest

from m import Retry, shuffled


class Fake:
    def __init__(self):
        self.now, self.slept = 0.0, []

    def clock(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


def test_retries():
    fake, left = Fake(), [OSError(), OSError()]

    def action():
        if left:
            raise left.pop()
        return "done"

    retry = Retry(fake.clock, fake.sleep, lambda: 0.5)
    assert retry.run(action, 60) == ("done", 3)
    assert fake.slept == [1.0, 2.0]


def test_gives_up():
    fake = Fake()

    def action():
        raise OSError("down")

    with pytest.raises(OSError, match="down"):
        Retry(fake.clock, fake.sleep, lambda: 1.0).run(action, 2)
    assert fake.slept == [2.0]


def test_shuffled():
    assert shuffled("abcd", 1) == shuffled("abcd", 1)
    assert sorted(shuffled("dcba", 2)) == ["a", "b", "c", "d"]
    assert shuffled([1, 2, 3, 4, 5], 7) != shuffled([1, 2, 3, 4, 5], 8)
""",
    ),
}
