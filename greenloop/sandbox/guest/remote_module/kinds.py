"""The metaclass and the base of likenesses: what a class and an object of the other side do."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from .errors import CannotSplit
from .special import may_be_read

Ask = Callable[..., Any]


def metaclass(ask: Ask, is_described: Callable[[type], bool]) -> Any:
    """A class's own behaviour: calling, class attributes, `isinstance`; subclasses made by tests."""

    first: dict[tuple[int, str], Any] = {}

    class Likeness(abc.ABCMeta):
        def __new__(
            mcs, name: str, bases: Any, space: dict[str, Any], described: bool = False
        ) -> Any:
            made = super().__new__(mcs, name, bases, space)
            if described:
                first.update({(id(made), name): item for name, item in space.items()})
            return made

        def __call__(cls, *arguments: Any, **named: Any) -> Any:
            return ask("call", cls, arguments, named)

        def __getattr__(cls, name: str) -> Any:
            if not may_be_read(name):
                raise AttributeError(name)
            return ask("get", cls, name)

        def __setattr__(cls, name: str, value: Any) -> None:
            if name.startswith("_abc") or name == "__abstractmethods__":
                return super().__setattr__(name, value)
            if first.get((id(cls), name)) is value and value is not None:
                ask(
                    "del", cls, name
                )  # a patch is taken back: what it was over there is known there
            else:
                ask("set", cls, name, value)
            if name in vars(cls):
                super().__setattr__(name, value)
            return None

        def __delattr__(cls, name: str) -> None:
            ask("del", cls, name)

        def __getitem__(cls, item: Any) -> Any:
            return cls

        def __instancecheck__(cls, value: Any) -> bool:
            if super().__instancecheck__(value):
                return True
            asks = is_described(cls) and vars(cls).get("__split_asks__")
            return bool(asks and ask("isinstance", cls, value))

    return Likeness


def base_members(ask: Ask) -> dict[str, Any]:
    """What every object of the other side has, whatever its class."""

    own_names: set[tuple[int, str]] = set()  # what tests set on an object goes before its class

    def __getattribute__(self: Any, name: str) -> Any:
        if own_names and (id(self), name) in own_names:
            return ask("get", self, name)
        return object.__getattribute__(self, name)

    def __getattr__(self: Any, name: str) -> Any:
        if not may_be_read(name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return ask("get", self, name)

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if isinstance(self, BaseException) and name.startswith("__"):
            return BaseException.__setattr__(self, name, value)  # traceback, cause: this side's own
        ask("set", self, name, value)
        if callable(vars(type(self)).get(name)):
            own_names.add((id(self), name))
        return None

    def __delattr__(self: Any, name: str) -> None:
        ask("del", self, name)
        own_names.discard((id(self), name))

    def __dir__(self: Any) -> Any:
        return ask("names", self)

    def __copy__(self: Any) -> Any:
        return ask("copy", self, False)

    def __deepcopy__(self: Any, memo: Any) -> Any:
        return ask("copy", self, True)

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        raise CannotSplit(f"a {type(self).__name__} is not pickled from another process")

    members = dict(locals())
    del members["ask"], members["own_names"]
    members["__slots__"] = ()
    members["__dict__"] = property(lambda self: ask("get", self, "__dict__"))
    return members
