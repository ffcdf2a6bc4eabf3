"""Odd but right: what is kept: caches, garbage, files, copies, contexts."""

from __future__ import annotations

from tests.security.forgery.case import Odd

ODD = {
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
    "a codec that is registered": Odd(
        code="""
import codecs
import string

_SHIFT = str.maketrans(
    string.ascii_lowercase, string.ascii_lowercase[5:] + string.ascii_lowercase[:5]
)
_BACK = {value: key for key, value in _SHIFT.items()}


def encode(text, errors="strict"):
    return text.translate(_SHIFT).encode("ascii", errors), len(text)


def decode(data, errors="strict"):
    return bytes(data).decode("ascii", errors).translate(_BACK), len(data)


def _search(name):
    return codecs.CodecInfo(encode, decode, name=name) if name == "shift5" else None


codecs.register(_search)
""",
        tests=r"""
import pytest

import m


@pytest.mark.parametrize("text, data", [("abc", b"fgh"), ("xyz", b"cde"), ("a b", b"f g"), ("", b"")])
def test_text(text, data):
    assert text.encode("shift5") == data
    assert data.decode("shift5") == text


def test_not_ascii():
    with pytest.raises(UnicodeEncodeError):
        "é".encode("shift5")
    assert "é".encode("shift5", "ignore") == b""
    assert b"\xe9".decode("shift5", "ignore") == ""
    with pytest.raises(UnicodeDecodeError):
        b"\xe9".decode("shift5")
""",
    ),
}
