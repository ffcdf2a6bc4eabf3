"""Odd but right: what tests patch, module state, imports, files, environment, logging, clocks."""

from __future__ import annotations

from tests.forgery.case import Odd

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
    "a module with __getattr__": Odd(
        """
_OLD = {"colour": "color"}


def color():
    return "red"


def __getattr__(name):
    if name in _OLD:
        return globals()[_OLD[name]]
    raise AttributeError(f"no {name} here")


def __dir__():
    return ["color"]
""",
        """
import pytest

import m


def test_old_names():
    assert m.colour() == "red"
    assert m.color() == "red"
    assert dir(m) == ["color"]


def test_no_others():
    with pytest.raises(AttributeError, match="no flavour here"):
        m.flavour
""",
    ),
    "caches": Odd(
        """
import functools

calls = []


@functools.lru_cache(maxsize=None)
def fib(n):
    calls.append(n)
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def memoised(function):
    known = {}

    @functools.wraps(function)
    def inner(*args):
        if args not in known:
            known[args] = function(*args)
        return known[args]

    inner.known = known
    return inner


@memoised
def power(a, b):
    return a**b
""",
        """
from m import calls, fib, power


def test_fib():
    assert fib(30) == 832040
    assert len(calls) == 31
    fib(30)
    assert len(calls) == 31


def test_power():
    assert power(2, 10) == 1024
    assert power.known[(2, 10)] == 1024
    assert power.__name__ == "power"
""",
    ),
    "a registry filled at import": Odd(
        """
import functools

HANDLERS = {}


def handles(name):
    def register(function):
        HANDLERS[name] = function
        return function

    return register


@handles("double")
def _double(n):
    return n * 2


@handles("negate")
def _negate(n):
    return -n


def run(name, n):
    if name not in HANDLERS:
        raise LookupError(f"no handler {name!r}")
    return HANDLERS[name](n)


@functools.singledispatch
def shown(value):
    return "?"


@shown.register(int)
def _(value):
    return f"int {value}"


@shown.register(list)
def _(value):
    return ", ".join(map(shown, value))
""",
        """
import pytest

from m import HANDLERS, run, shown


def test_run():
    assert run("double", 4) == 8
    assert run("negate", 4) == -4
    assert sorted(HANDLERS) == ["double", "negate"]


def test_unknown():
    with pytest.raises(LookupError, match="no handler 'x'"):
        run("x", 1)


def test_shown():
    assert shown([1, 2.0]) == "int 1, ?"
""",
    ),
    "plugins looked for in sys.modules": Odd(
        """
import sys


def plugins(prefix):
    return sorted(name for name in sys.modules if name.startswith(prefix))


def loaded(name):
    return sys.modules.get(name)
""",
        """
import sys
import types

from m import loaded, plugins


def test_plugins(monkeypatch):
    monkeypatch.setitem(sys.modules, "zz_one", types.ModuleType("zz_one"))
    monkeypatch.setitem(sys.modules, "zz_two", types.ModuleType("zz_two"))
    assert plugins("zz_") == ["zz_one", "zz_two"]
    assert plugins("none_such") == []


def test_loaded():
    assert loaded("sys") is sys
    assert loaded("none_such") is None
""",
    ),
    "the collector of garbage": Odd(
        """
import gc


def collected(make):
    make()
    return gc.collect() > 0


def paused(function):
    was = gc.isenabled()
    gc.disable()
    try:
        return function()
    finally:
        if was:
            gc.enable()
""",
        """
import gc

from m import collected, paused


def test_cycles():
    def cycle():
        one = []
        one.append(one)

    gc.collect()
    assert collected(cycle)


def test_paused():
    assert paused(gc.isenabled) is False
    assert gc.isenabled()
    gc.disable()
    try:
        paused(gc.isenabled)
        assert not gc.isenabled()
    finally:
        gc.enable()
""",
    ),
    "the environment": Odd(
        """
import os


def setting(name, default=None):
    value = os.environ.get("APP_" + name.upper())
    if value is None:
        if default is None:
            raise LookupError(f"APP_{name.upper()} is not set")
        return default
    return value


def flag(name):
    return setting(name, "no").lower() in ("1", "yes", "on")
""",
        """
import pytest

from m import flag, setting


def test_setting(monkeypatch):
    monkeypatch.setenv("APP_COLOUR", "red")
    assert setting("colour") == "red"


def test_default(monkeypatch):
    monkeypatch.delenv("APP_COLOUR", raising=False)
    assert setting("colour", "blue") == "blue"
    with pytest.raises(LookupError, match="APP_COLOUR is not set"):
        setting("colour")


@pytest.mark.parametrize("value, on", [("1", True), ("YES", True), ("on", True), ("0", False)])
def test_flag(monkeypatch, value, on):
    monkeypatch.setenv("APP_DEBUG", value)
    assert flag("debug") is on
    monkeypatch.delenv("APP_DEBUG")
    assert flag("debug") is False
""",
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
    "files": Odd(
        """
import json
import os
import tempfile


def save(path, value):
    handle, name = tempfile.mkstemp(dir=os.path.dirname(path))
    with os.fdopen(handle, "w") as file:
        json.dump(value, file)
    os.replace(name, path)


def load(path, default=None):
    try:
        with open(path) as file:
            return json.load(file)
    except FileNotFoundError:
        return default
""",
        """
import os

import pytest

from m import load, save


def test_round_trip(tmp_path):
    path = tmp_path / "x.json"
    save(path, {"a": [1, None]})
    assert load(path) == {"a": [1, None]}
    assert os.listdir(tmp_path) == ["x.json"]


def test_missing(tmp_path):
    assert load(tmp_path / "no.json", 5) == 5
    assert load(tmp_path / "no.json") is None


def test_unreadable(tmp_path):
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(ValueError):
        load(tmp_path / "bad.json")
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
    "a patch for a while": Odd(
        """
import builtins
import contextlib


@contextlib.contextmanager
def captured_prints():
    seen, real = [], builtins.print

    def fake(*values, **more):
        seen.append(" ".join(map(str, values)))

    builtins.print = fake
    try:
        yield seen
    finally:
        builtins.print = real
""",
        """
import builtins

import pytest

from m import captured_prints


def test_captured():
    with captured_prints() as seen:
        print("a", 1)
    assert seen == ["a 1"]


def test_put_back():
    before = builtins.print
    with pytest.raises(KeyError):
        with captured_prints():
            raise KeyError
    assert builtins.print is before
""",
    ),
    "copies and pickles": Odd(
        """
import copy
import pickle


class Config:
    def __init__(self, **values):
        self.values = values
        self.loaded = True

    def __getstate__(self):
        return {"values": self.values}

    def __setstate__(self, state):
        self.values = state["values"]
        self.loaded = False

    def __copy__(self):
        return Config(**self.values)


def cloned(config):
    return pickle.loads(pickle.dumps(config))


def copied(config):
    return copy.copy(config)
""",
        """
from m import Config, cloned, copied


def test_cloned():
    made = cloned(Config(a=1))
    assert made.values == {"a": 1}
    assert made.loaded is False


def test_copied():
    before = Config(a=[1])
    made = copied(before)
    assert made.values == {"a": [1]}
    assert made.loaded is True
    assert made is not before
""",
    ),
    "context variables": Odd(
        """
import contextlib
import contextvars

_USER = contextvars.ContextVar("user", default="nobody")


@contextlib.contextmanager
def acting_as(name):
    token = _USER.set(name)
    try:
        yield
    finally:
        _USER.reset(token)


def whoami():
    return _USER.get()
""",
        """
import contextvars

from m import acting_as, whoami


def test_nested():
    assert whoami() == "nobody"
    with acting_as("a"):
        with acting_as("b"):
            assert whoami() == "b"
        assert whoami() == "a"
    assert whoami() == "nobody"


def test_other_contexts():
    with acting_as("a"):
        assert contextvars.Context().run(whoami) == "nobody"
""",
    ),
}
