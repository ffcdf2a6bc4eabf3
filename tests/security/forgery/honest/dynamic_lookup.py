"""Odd but right: what is looked up or replaced: attributes, registries, plugins, environment."""

from __future__ import annotations

from tests.security.forgery.case import Odd

ODD = {
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
}
