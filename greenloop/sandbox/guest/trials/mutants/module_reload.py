"""A module made another one in place: who holds its functions and classes holds the new ones.

Good enough to see at once what a change does; what it finds is run again on a module that was
really imported.
"""

from __future__ import annotations

import types
from contextlib import suppress
from typing import Any

_CLASS_INTERNALS = {"__dict__", "__weakref__", "__module__", "__qualname__", "__doc__"}


def reload_in_place(namespace: dict[str, Any], code: types.CodeType) -> None:
    """Runs a module's code in its own names. Raises what that raises."""
    before = dict(namespace)
    try:
        exec(code, namespace)
    finally:
        for name, old in before.items():
            if _update_in_place(old, namespace.get(name), namespace.get("__name__")):
                namespace[name] = old


def clear_caches(namespace: dict[str, Any]) -> None:
    """Empties `functools.cache` and its like."""
    for item in list(namespace.values()):
        clear = getattr(item, "cache_clear", None) if callable(item) else None
        if clear is not None:
            with suppress(Exception):
                clear()


def _update_in_place(old: Any, new: Any, module: Any) -> bool:
    """Whether the old one now does what the new one does."""
    if old is new or getattr(old, "__module__", None) != module or type(old) is not type(new):
        return False
    if type(old) is types.FunctionType:
        return _update_function(old, new)
    return type(old) is type and _update_class(old, new, module)


def _update_function(old: types.FunctionType, new: types.FunctionType) -> bool:
    try:
        old.__code__ = new.__code__
    except ValueError:  # it closes over other variables
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
