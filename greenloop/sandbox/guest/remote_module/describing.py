"""What the other side has to know of a class or a function to put a likeness in its place."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from .containers import KINDS
from .plain import VALUE_TYPES
from .special import SPECIAL

Encode = Callable[[Any], Any]
CONTAINER_TYPES = tuple(kind.type for kind in KINDS)
_PLAIN_FUNCTIONS = (types.FunctionType, functools._lru_cache_wrapper)
_MOST_MEMBERS = 2000


def of_class(kind: type, own: bool, encode: Encode) -> dict[str, Any]:
    """`own`: it is from the described side's own code, not from a library."""
    found: dict[str, Any] = {
        "form": _form(kind),
        "name": kind.__name__,
        "qualname": kind.__qualname__,
        "module": kind.__module__,
        "doc": kind.__doc__ if isinstance(kind.__doc__, str) else None,
    }
    if found["form"] == "namedtuple":
        found["tuple"] = list(kind._fields)  # type: ignore[attr-defined]
    if not own:
        own_members = {} if found["form"] == "namedtuple" else _of_a_library(kind)
        return {**found, "bases": [], "members": own_members}
    found["bases"] = [encode(base) for base in kind.__bases__]
    found["members"] = {
        name: said
        for name, value in list(vars(kind).items())[:_MOST_MEMBERS]
        if (said := _member(name, value, encode)) is not None
    }
    if issubclass(kind, CONTAINER_TYPES):
        found["members"] = {**_of_a_library(kind), **found["members"]}
    found["abstract"] = sorted(getattr(kind, "__abstractmethods__", ()))
    found["asks"] = bool(getattr(kind, "_is_protocol", False)) or "_abc_impl" in vars(kind)
    if dataclasses.is_dataclass(kind):
        found["fields"] = [[field.name, field.init] for field in dataclasses.fields(kind)]
        found["frozen"] = bool(kind.__dataclass_params__.frozen)  # type: ignore[attr-defined]
    if found["form"] == "enum":
        found["enum"] = [[name, encode(item.value)] for name, item in kind.__members__.items()]  # type: ignore[attr-defined]
    return found


def _form(kind: type) -> str:
    if issubclass(kind, BaseException):
        return "exception"
    if issubclass(kind, enum.Enum):
        return "enum"
    if issubclass(kind, tuple):
        return "namedtuple" if hasattr(kind, "_fields") else "tuple"
    if issubclass(kind, VALUE_TYPES):
        return "value"
    return "container" if issubclass(kind, CONTAINER_TYPES) else "plain"


def _of_a_library(kind: type) -> dict[str, Any]:
    """Its operators, and for containers its methods too: these have them from their base."""
    found: dict[str, Any] = {}
    for name in dir(kind):
        value = getattr(kind, name, None)
        if name in SPECIAL and value is not getattr(object, name, None):
            found[name] = ["none"] if value is None else ["method", {"name": name}]
        elif not name.startswith("_") and callable(value) and issubclass(kind, CONTAINER_TYPES):
            found[name] = ["method", {"name": name}]
    return found


def _member(name: str, value: Any, encode: Encode) -> Any:
    """How one entry of a class's dict is to be mirrored; None where it is read when it is needed."""
    if name.startswith("__") and name.endswith("__") and name not in SPECIAL:
        return None
    if value is None and name == "__hash__":
        return ["none"]
    if isinstance(value, staticmethod):
        return ["static", _inner(value.__func__, encode)]
    if isinstance(value, classmethod):
        return ["class", _inner(value.__func__, encode)]
    if isinstance(value, property):
        return ["property", {"name": name, "doc": value.__doc__}]
    if isinstance(value, _PLAIN_FUNCTIONS):
        return ["method", of_function(value, encode)]
    return ["method", {"name": name}] if name in SPECIAL and callable(value) else None


def _inner(function: Any, encode: Encode) -> dict[str, Any]:
    return of_function(function, encode) if isinstance(function, _PLAIN_FUNCTIONS) else {}


def of_function(function: Any, encode: Encode) -> dict[str, Any]:
    """Name, text, signature, whether it is to be awaited, whether it has attributes of its own."""
    return {
        "name": str(function.__name__),
        "qualname": str(function.__qualname__),
        "module": str(function.__module__),
        "doc": function.__doc__ if isinstance(function.__doc__, str) else None,
        "async": inspect.iscoroutinefunction(function),
        "abstract": bool(getattr(function, "__isabstractmethod__", False)),
        "signature": _signature(function, encode),
    }


def _signature(function: Any, encode: Encode) -> Any:
    try:
        found = inspect.signature(function)
    except (ValueError, TypeError):
        return None
    return [
        [
            parameter.name,
            int(parameter.kind),
            parameter.default is not parameter.empty,
            None if parameter.default is parameter.empty else _shown(parameter.default, encode),
            _class_or_none(parameter.annotation, encode),
        ]
        for parameter in found.parameters.values()
    ] + [_class_or_none(found.return_annotation, encode)]


def _class_or_none(annotation: Any, encode: Encode) -> Any:
    """Only classes: text would have to be evaluated by whoever reads it."""
    plain = isinstance(annotation, type) and annotation is not inspect.Parameter.empty
    return [encode(annotation)] if plain and annotation.__module__ == "builtins" else None


def _shown(default: Any, encode: Encode) -> Any:
    return encode(default) if isinstance(default, (*VALUE_TYPES, tuple, type(None))) else None


def has_attributes(function: Any) -> bool:
    """Whether tests may look at something that it carries: a counter, `cache_info` …"""
    return isinstance(function, functools._lru_cache_wrapper) or any(
        name != "__wrapped__" for name in getattr(function, "__dict__", ())
    )
