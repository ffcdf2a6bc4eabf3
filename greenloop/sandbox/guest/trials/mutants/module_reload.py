"""A module made another one in place: who holds its functions and classes holds the new ones.

Good enough to see at once what a change does; what it finds is run again on a module that was
really imported.
"""

from __future__ import annotations

import types
from contextlib import suppress
from typing import Any

_OF_THE_CLASS = {"__dict__", "__weakref__", "__module__", "__qualname__", "__doc__"}


def run_again(names: dict[str, Any], code: types.CodeType) -> None:
    """Runs a module's code in its own names. Raises what that raises."""
    before = dict(names)
    try:
        exec(code, names)
    finally:
        for name, old in before.items():
            if _made_the_same(old, names.get(name), names.get("__name__")):
                names[name] = old


def forget_answers(names: dict[str, Any]) -> None:
    """Empties `functools.cache` and its like."""
    for item in list(names.values()):
        clear = getattr(item, "cache_clear", None) if callable(item) else None
        if clear is not None:
            with suppress(Exception):
                clear()


def _made_the_same(old: Any, new: Any, module: Any) -> bool:
    """Whether the old one now does what the new one does."""
    if old is new or getattr(old, "__module__", None) != module or type(old) is not type(new):
        return False
    if type(old) is types.FunctionType:
        return _function(old, new)
    return type(old) is type and _class(old, new, module)


def _function(old: types.FunctionType, new: types.FunctionType) -> bool:
    try:
        old.__code__ = new.__code__
    except ValueError:  # it closes over other variables
        return False
    old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
    return True


def _class(old: type, new: type, module: Any) -> bool:
    for name in set(vars(old)) - set(vars(new)) - _OF_THE_CLASS:
        with suppress(AttributeError, TypeError):
            delattr(old, name)
    for name, value in list(vars(new).items()):
        present = vars(old).get(name)
        if name not in _OF_THE_CLASS and not _made_the_same(present, value, module):
            with suppress(AttributeError, TypeError):
                setattr(old, name, value)
    return True
