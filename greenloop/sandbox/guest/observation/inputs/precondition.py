"""Precondition of a second implementation, which is checked before each call."""

import functools
import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
_EARLIER = "earlier"  # the parameter of `allowed` for the earlier calls on an object


class InputNotAllowed(Exception):
    """The precondition excludes the arguments of a call."""


class Precondition:
    """Check of calls by `allowed`, which gets the called name first if `has_names`.

    An `allowed` with a parameter `earlier` gets the earlier calls on the object, beginning with its
    construction, because they may decide whether a call is allowed.
    """

    def __init__(self, allowed: Callable[..., Any] | None, has_names: bool) -> None:
        self.allowed, self._has_names = allowed, has_names
        self._signatures: dict[str, inspect.Signature] = {}
        self._is_inside = False
        self._takes_earlier = _takes(allowed, _EARLIER)
        # Holds the objects, so that no other object gets the id of one of them.
        self._histories: dict[int, tuple[Any, list[tuple[Any, ...]]]] = {}

    def is_allowed(self, name: str, function: Any, arguments: Arguments) -> bool:
        """Return whether a call is allowed, with the function's defaults if `allowed` has them."""
        return self._ask(name, self._fill_in(name, function, arguments), arguments, ())

    def guard(self, name: str, found: Any) -> Any:
        """Return a function or class that checks the precondition before its calls.

        A method is checked by its name and its arguments without `self`, `__init__` by the name of
        the class. Calls that the module makes itself are not checked.
        """
        if self.allowed is None or (isinstance(found, type) and issubclass(found, BaseException)):
            return found
        if isinstance(found, type):
            for key, method in list(vars(found).items()):
                if inspect.isfunction(method) and (key == "__init__" or key[:1] != "_"):
                    label = name if key == "__init__" else key
                    setattr(found, key, self._guard(label, method, is_method=True))
        return self._guard(name, found) if inspect.isroutine(found) else found

    def _guard(self, name: str, function: Any, is_method: bool = False) -> Any:
        @functools.wraps(function)
        def call_guarded(*given: Any, **named: Any) -> Any:
            if self._is_inside:
                return function(*given, **named)
            is_allowed = False
            with suppress(Exception):
                is_allowed = self._admit(name, function, (given, named), is_method)
            if not is_allowed:
                raise InputNotAllowed(name)
            self._is_inside = True
            try:
                return function(*given, **named)
            finally:
                self._is_inside = False

        return call_guarded

    def _admit(self, name: str, function: Any, arguments: Arguments, is_method: bool) -> bool:
        """Return whether a call is allowed; add a method's call to the history of its object."""
        filled = self._fill_in(name, function, arguments)
        if not is_method:
            return self._ask(name, filled, arguments, ())
        own, *given = arguments[0]
        earlier = self._histories.setdefault(id(own), (own, []))[1]
        shown = filled and (filled[0][1:], filled[1])
        is_allowed = self._ask(name, shown, (tuple(given), arguments[1]), tuple(earlier))
        positional, named = shown or (tuple(given), arguments[1])
        earlier.append((name, *positional, *named.values()))
        return is_allowed

    def _fill_in(self, name: str, function: Any, arguments: Arguments) -> Arguments | None:
        """Return the arguments with the function's defaults; None if it does not take them."""
        given, named = arguments
        with suppress(TypeError, ValueError):
            if name not in self._signatures:
                self._signatures[name] = inspect.signature(function)
            bound = self._signatures[name].bind(*given, **named)
            bound.apply_defaults()
            return bound.args, bound.kwargs
        return None

    def _ask(
        self, name: str, filled: Arguments | None, arguments: Arguments, earlier: tuple[Any, ...]
    ) -> bool:
        if filled is not None:
            with suppress(TypeError, ValueError, KeyError):
                return self._call(name, filled, earlier)
        return self._call(name, arguments, earlier)

    def _call(self, name: str, arguments: Arguments, earlier: tuple[Any, ...]) -> bool:
        given, named = arguments
        first = (name,) if self._has_names else ()
        more = {_EARLIER: list(earlier)} if self._takes_earlier else {}
        return bool(self.allowed(*first, *given, **named, **more))  # type: ignore[misc]


def _takes(function: Any, parameter: str) -> bool:
    with suppress(TypeError, ValueError):
        return parameter in inspect.signature(function).parameters
    return False
