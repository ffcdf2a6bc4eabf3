"""Functions that do their work on the other side."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .special import CALCULATING, COMPARING, WAITING

Ask = Callable[..., Any]
Decode = Callable[[Any], Any]
_MOST_TEXT = 100_000


def _hidden(function: Any) -> Any:
    """Without a source: whoever asks for it would get ours."""
    function.__code__ = function.__code__.replace(co_filename="<in the other process>")
    return function


def dressed(function: Any, said: dict[str, Any], decode: Decode) -> Any:
    """Gives a function the name, the text and the signature of the one that it stands for."""
    name = str(said.get("name", function.__name__))[:_MOST_TEXT]
    function.__name__ = name
    function.__qualname__ = str(said.get("qualname", name))[:_MOST_TEXT]
    if isinstance(said.get("module"), str):
        function.__module__ = said["module"]
    if isinstance(said.get("doc"), str):
        function.__doc__ = said["doc"]
    if said.get("abstract"):
        function.__isabstractmethod__ = True
    if said.get("signature") is not None:
        signature = _signature(said["signature"], decode)
        if signature is not None:
            function.__signature__ = signature
            function.__annotations__ = _annotations(signature)
    return function


def _signature(said: Any, decode: Decode) -> inspect.Signature | None:
    *parameters, returns = said
    try:
        made = [_parameter(item, decode) for item in parameters]
        return inspect.Signature(made, return_annotation=_annotation(returns, decode))
    except ValueError:
        return None


def _parameter(said: Any, decode: Decode) -> inspect.Parameter:
    name, kind, has_default, default, annotation = said
    return inspect.Parameter(
        str(name),
        list(inspect._ParameterKind)[int(kind)],
        default=decode(default) if has_default else inspect.Parameter.empty,
        annotation=_annotation(annotation, decode),
    )


def _annotation(said: Any, decode: Decode) -> Any:
    found = decode(said[0]) if said else None
    return found if isinstance(found, type) else inspect.Parameter.empty


def _annotations(signature: inspect.Signature) -> dict[str, Any]:
    empty = inspect.Parameter.empty
    found = {
        item.name: item.annotation
        for item in signature.parameters.values()
        if item.annotation is not empty
    }
    if signature.return_annotation is not empty:
        found["return"] = signature.return_annotation
    return found


def function(ask: Ask, waited: Callable[[Any], Any], said: dict[str, Any]) -> Any:
    """One that is called by itself; it becomes its own target once it has its number."""
    if said.get("async"):

        async def awaited(*arguments: Any, **named: Any) -> Any:
            return await waited(ask("call", awaited, arguments, named))

        return _hidden(awaited)

    def called(*arguments: Any, **named: Any) -> Any:
        return ask("call", called, arguments, named)

    return _hidden(called)


def method(ask: Ask, waited: Callable[[Any], Any], said: dict[str, Any], on: Any) -> Any:
    """One of a class: `on(self, name)` says who is asked, and by which operation."""
    name = str(said.get("name"))
    if name in COMPARING or name in CALCULATING or name == "__contains__":
        return lambda self, *others: ask("operator", self, name, others)
    if name in WAITING:

        async def special(self: Any, *arguments: Any) -> Any:
            return await waited(ask("special", self, name, arguments))

        return special
    if name == "__await__":
        return lambda self: waited(self).__await__()
    if name == "__init__" or not (name.startswith("__") and name.endswith("__")):
        return _ordinary(ask, waited, said, on, name)
    if name == "__hash__":
        return lambda self: _hash(ask("special", self, name, ()))
    return lambda self, *arguments, **named: ask("special", self, name, arguments, named)


def _hash(found: Any) -> int:
    if type(found) is not int:
        raise TypeError("__hash__ method should return an integer")
    return hash(found)


def _ordinary(ask: Ask, waited: Any, said: dict[str, Any], on: Any, name: str) -> Any:
    if said.get("async"):

        async def awaited(self: Any, *arguments: Any, **named: Any) -> Any:
            return await waited(on(self, name, arguments, named))

        return _hidden(awaited)

    def called(self: Any, *arguments: Any, **named: Any) -> Any:
        return on(self, name, arguments, named)

    return _hidden(called)
