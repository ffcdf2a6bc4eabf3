"""Reload of a module in place: existing references to its functions and classes see the new code.

Good enough for a first screening; what passes is tried again on a module that was imported.
"""

from __future__ import annotations

import types
from contextlib import suppress
from typing import Any

_CLASS_INTERNALS = {"__dict__", "__weakref__", "__module__", "__qualname__", "__doc__"}


def reload_in_place(namespace: dict[str, Any], code: types.CodeType) -> None:
    """Execute a module's code in its namespace. Raises what the code raises."""
    before = dict(namespace)
    try:
        exec(code, namespace)
    finally:
        for name, old in before.items():
            if _update_in_place(old, namespace.get(name), namespace.get("__name__")):
                namespace[name] = old


def clear_caches(namespace: dict[str, Any]) -> None:
    """Clear `functools.cache` and similar caches."""
    for item in list(namespace.values()):
        clear = getattr(item, "cache_clear", None) if callable(item) else None
        if clear is not None:
            with suppress(Exception):
                clear()


def _update_in_place(old: Any, new: Any, module: Any) -> bool:
    """Make an old object behave like the new one; False if that is impossible."""
    if old is new or getattr(old, "__module__", None) != module or type(old) is not type(new):
        return False
    if type(old) is types.FunctionType:
        return _update_function(old, new)
    return type(old) is type and _update_class(old, new, module)


def _update_function(old: types.FunctionType, new: types.FunctionType) -> bool:
    try:
        old.__code__ = new.__code__
    except ValueError:  # its closure has other variables
        return False
    old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
    return True


def _update_class(old: type, new: type, module: Any) -> bool:
    for name in set(vars(old)) - set(vars(new)) - _CLASS_INTERNALS:
        with suppress(AttributeError, TypeError):
            delattr(old, name)
    for name, value in list(vars(new).items()):
        present = vars(old).get(name)
        if name not in _CLASS_INTERNALS and not _update_in_place(present, value, module):
            with suppress(AttributeError, TypeError):
                setattr(old, name, value)
    return True
