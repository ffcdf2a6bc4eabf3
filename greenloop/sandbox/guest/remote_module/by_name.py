"""Classes, functions and modules of the standard library: both sides have them, so the name is enough.

What the code under test names is looked up among a few: it must not get to choose what runs here.
"""

from __future__ import annotations

import abc
import builtins
import collections
import enum
import importlib
import sys
import types
from collections.abc import Iterable
from typing import Any

from .containers import KINDS
from .plain import VALUE_TYPES

_TYPES: tuple[type, ...] = (
    *VALUE_TYPES,
    *(kind.type for kind in KINDS),
    *(object, type(None), tuple, frozenset, range, slice, abc.ABC, collections.UserDict),
    *(enum.Enum, enum.IntEnum, enum.Flag, enum.IntFlag, collections.UserList),
)
_LIKENESSES = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
# What happens on import there should not happen because the code under test says so.
_WITH_EFFECTS = frozenset(
    {"antigravity", "this", "idlelib", "test", "turtledemo", "__main__", "unittest"}
)
_BELOW = {"urllib": ("request", "error", "parse"), "http": ("client", "server"), "os": ("path",)}
_NO_ERRORS_FROM = frozenset({"unittest", "pytest", "_pytest", "doctest", "bdb", "pdb"})


def name_of(value: Any, own_modules: Iterable[str] = ()) -> list[str] | None:
    """[module, name] of what the standard library holds under that name; None for all else."""
    if isinstance(value, types.ModuleType):
        known = sys.modules.get(value.__name__) is value and is_standard(value.__name__)
        return [value.__name__, ""] if known and value.__name__ not in own_modules else None
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or not is_standard(module):
        return None
    try:
        return [module, name] if found(module, name) is value else None
    except (LookupError, AttributeError):
        return None


def is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def found(module: str, name: str) -> Any:
    """What is there under this name. Raises LookupError or AttributeError where nothing is."""
    value: Any = sys.modules[module]
    for part in name.split(".") if name else ():
        value = getattr(value, part)
    return value


def harmless(module: str, name: str) -> Any:
    """The same for a name that is not trusted: value types, exceptions, loaded modules.

    Raises LookupError where it is anything else.
    """
    if not isinstance(module, str) or not isinstance(name, str) or not is_standard(module):
        raise LookupError(name)
    try:
        if not name:
            return _imported(module)
        value = found(module, name)
    except (AttributeError, ImportError):
        raise LookupError(name) from None
    if isinstance(value, type) and value in _TYPES:
        return value
    is_error = isinstance(value, type) and issubclass(value, BaseException)
    if is_error and module.partition(".")[0] not in _NO_ERRORS_FROM:
        return value
    raise LookupError(name)


def _imported(module: str) -> types.ModuleType:
    """A module of the standard library with those below it that are usually patched."""
    if module.partition(".")[0] in _WITH_EFFECTS:
        raise LookupError(module)
    for below in _BELOW.get(module, ()):
        importlib.import_module(f"{module}.{below}")
    return importlib.import_module(module)


def likeness(module: Any, name: Any) -> type | None:
    """The class that an object of a library says it has, where tests may ask for it."""
    if module == "builtins":
        return next((kind for kind in _LIKENESSES if kind.__name__ == name), None)
    return None


def is_value_type(kind: type) -> bool:
    return kind in _TYPES


def is_builtin(value: Any) -> bool:
    name = getattr(value, "__name__", "")
    return getattr(builtins, str(name), None) is value
