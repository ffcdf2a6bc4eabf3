"""Parts of likenesses: names, fields of data classes, exceptions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any


def names(said: dict[str, Any]) -> dict[str, Any]:
    found = {"__module__": str(said["module"]), "__qualname__": str(said["qualname"])}
    if isinstance(said.get("doc"), str):
        found["__doc__"] = said["doc"]
    return found


def data_class(said: dict[str, Any]) -> dict[str, Any]:
    """What `dataclasses.fields`, `asdict`, `replace` and `match` look at."""
    fields = [
        (str(name), object, dataclasses.field(init=bool(init), default=None))
        for name, init in said["fields"]
    ]
    made = dataclasses.make_dataclass("Fields", fields, frozen=bool(said.get("frozen")))
    return {
        "__dataclass_fields__": made.__dataclass_fields__,  # type: ignore[attr-defined]
        "__dataclass_params__": made.__dataclass_params__,  # type: ignore[attr-defined]
        "__match_args__": made.__match_args__,  # type: ignore[attr-defined]
    }


def as_error(kind: type, said: dict[str, Any], decode: Callable[[Any], Any]) -> BaseException:
    arguments = decode(said["args"])
    if type(arguments) is not tuple:
        raise TypeError("its arguments are no tuple")
    error = _raised(kind, arguments)
    if not isinstance(error, BaseException):
        raise TypeError("it is no exception")
    BaseException.__setattr__(error, "args", arguments)
    cause = decode(said.get("cause"))
    if isinstance(cause, BaseException):
        error.__cause__ = cause
    for note in said.get("notes", ()):
        vars(error)["__notes__"] = [*getattr(error, "__notes__", ()), str(note)]
    for name, value in said.get("attributes", ()):
        if str(name).startswith("__"):
            continue
        try:
            BaseException.__setattr__(error, str(name), decode(value))
        except (AttributeError, TypeError):
            continue
    return error


def _raised(kind: type, arguments: tuple[Any, ...]) -> Any:
    if kind.__module__ == "builtins":
        try:
            return kind(*arguments)
        except (TypeError, ValueError):
            pass
    made = kind.__new__(kind, *arguments)
    base = next(item for item in kind.__mro__ if item.__module__ == "builtins")
    try:
        base.__init__(made, *arguments)  # type: ignore[misc]
    except (TypeError, ValueError):
        pass
    return made
