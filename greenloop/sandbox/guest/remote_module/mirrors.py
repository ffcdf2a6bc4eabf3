"""Likenesses of the other side's classes, functions and objects, made from their descriptions."""

from __future__ import annotations

import enum
import functools
from collections import namedtuple
from collections.abc import Callable
from typing import Any

from . import by_name, kinds, parts, stubs
from .containers import KINDS
from .errors import Broken
from .special import SPECIAL

_CONTAINERS = tuple(kind.type for kind in KINDS)
_FLAWED = (ValueError, TypeError, LookupError, AttributeError)


class Mirrors:
    """Makes likenesses. `ask(operation, …)` asks the other side; `waited` awaits one of its objects."""

    def __init__(
        self,
        ask: Callable[..., Any],
        waited: Callable[[Any], Any],
        decode: Callable[[Any], Any],
    ) -> None:
        self._ask, self._waited, self._decode = ask, waited, decode
        self._meta = kinds.metaclass(ask, self.is_described)
        self._base = {**kinds.base_members(ask)}
        self._described: set[type] = set()

    def is_described(self, kind: type) -> bool:
        """Whether a class is the likeness of one there."""
        return kind in self._described

    def is_derived(self, kind: type) -> bool:
        """Whether it was made here from such a one: its objects live on the other side."""
        return isinstance(kind, self._meta) and kind not in self._described

    def made(self, said: dict[str, Any]) -> Any:
        """The likeness. Raises Broken where the description makes no sense."""
        try:
            return self._makers()[said["form"]](said)
        except _FLAWED as error:
            raise Broken(f"it described what cannot be: {error}") from None

    def _makers(self) -> dict[str, Callable[[dict[str, Any]], Any]]:
        classes = ("plain", "container", "value", "tuple")
        return {
            **dict.fromkeys(classes, self._class),
            "exception": self._class,
            "enum": self._enum,
            "namedtuple": self._tuple,
            "function": self._function,
            "object": self._object,
            "error": self._error,
        }

    def _function(self, said: dict[str, Any]) -> Any:
        made = stubs.function(self._ask, self._waited, said)
        return stubs.dressed(made, said, self._decode)

    def _object(self, said: dict[str, Any]) -> Any:
        kind = self._decode(said["class"])
        if not isinstance(kind, type) or not (
            kind in self._described or isinstance(kind, self._meta)
        ):
            raise TypeError("its class is none of the other side")
        if issubclass(kind, BaseException):
            return parts.as_error(kind, said, self._decode)
        values: tuple[Any, ...] = (int, float, str, bytes, tuple)
        for base in values:
            if issubclass(kind, base):
                return base.__new__(kind, self._decode(said["value"]))
        empty: Any = next((item for item in _CONTAINERS if issubclass(kind, item)), object)
        return empty.__new__(kind)

    def _error(self, said: dict[str, Any]) -> BaseException:
        kind = self._decode(said["class"])
        if not isinstance(kind, type) or not issubclass(kind, BaseException):
            raise TypeError("its class is no exception")
        return parts.as_error(kind, said, self._decode)

    def _class(self, said: dict[str, Any]) -> Any:
        bases = self._bases(said)
        owner: list[type] = []
        space = {**self._members(said, owner), "__split_asks__": bool(said.get("asks"))}
        if not any(isinstance(base, self._meta) for base in bases):
            space = {**self._base, **space}
        space = {**space, **parts.names(said)}
        if not said.get("bases"):  # of a library: the text is that of each object
            space["__doc__"] = property(lambda self: self.__getattr__("__doc__"))
        if said.get("fields"):
            space.update(parts.data_class(said))
        likeness = by_name.likeness(said.get("module"), said.get("name"))
        if likeness is not None:
            space["__class__"] = property(lambda self: likeness)
        made = self._meta(str(said["name"]), bases, space, described=True)
        self._described.add(made)
        owner.append(made)
        return made

    def _bases(self, said: dict[str, Any]) -> tuple[type, ...]:
        decoded = [self._decode(item) for item in said.get("bases", ())]
        known = [
            base
            for base in decoded
            if (isinstance(base, type) and (base in self._described or by_name.is_value_type(base)))
            or (isinstance(base, type) and issubclass(base, BaseException))
        ]
        if len(known) > 1 and object in known:
            known.remove(object)
        return tuple(known) or (object,)

    def _members(self, said: dict[str, Any], owner: list[type]) -> dict[str, Any]:
        found = {}
        for name, (how, *rest) in said.get("members", {}).items():
            found[name] = self._member(str(name), str(how), rest[0] if rest else {}, owner)
        for name in said.get("abstract", ()):
            found.setdefault(str(name), _abstract)
        return found

    def _member(self, name: str, how: str, said: dict[str, Any], owner: list[type]) -> Any:
        private = name.startswith("__") and name.endswith("__")
        if private and (name not in SPECIAL or how not in ("method", "none")):
            raise ValueError(f"{name} is nothing to be mirrored")  # or it would go past `judging`
        if how == "none":
            return None
        said = {**said, "name": said.get("name", name)}
        ask = self._ask
        if how == "property":
            return property(
                lambda self: ask("get", self, name),
                lambda self, value: ask("set", self, name, value),
                lambda self: ask("del", self, name),
                said.get("doc"),
            )
        if how in ("static", "class"):
            return _StaticOrClass(ask, name, said, self._decode)
        on = functools.partial(self._on, owner)
        made = stubs.method(ask, self._waited, {**said, "name": name}, on)
        return stubs.dressed(made, said, self._decode)

    def _on(self, owner: list[type], it: Any, name: str, arguments: Any, named: Any) -> Any:
        """An object of a class made here is asked for what it has from the owner of the stub."""
        if self.is_derived(type(it)):
            return self._ask("inherited", owner[0], it, name, arguments, named)
        return self._ask("method", it, name, arguments, named)

    def _tuple(self, said: dict[str, Any]) -> Any:
        fields = [str(item) for item in said["tuple"]]
        base = namedtuple(str(said["name"]), fields)  # type: ignore[misc]
        keep = {name: item for name, item in said["members"].items() if not hasattr(base, name)}
        shown = {name: said["members"][name] for name in ("__repr__", "__str__") if name in keep}
        members = self._members({"members": {**keep, **shown}}, [])
        members = {name: item for name, item in members.items() if name != "__init__"}
        made = type(str(said["name"]), (base,), {**members, "__slots__": (), **parts.names(said)})
        self._described.add(made)
        return made

    def _enum(self, said: dict[str, Any]) -> Any:
        bases = tuple(self._decode(item) for item in said["bases"])
        if not all(isinstance(base, type) for base in bases):
            raise TypeError("a base is no class")
        meta = type(next(base for base in bases if issubclass(base, enum.Enum)))
        space = meta.__prepare__(str(said["name"]), bases)
        ask = self._ask
        for name, item in self._members(said, []).items():
            if name not in ("__init__", "__new__", "__eq__", "__ne__", "__hash__"):
                space[name] = item
        for name, value in said["enum"]:
            if str(name).startswith("_"):
                raise ValueError(f"{name} is no member's name")
            space[str(name)] = self._decode(value)
        if not said["enum"]:
            return meta(str(said["name"]), bases, space)
        space["__getattr__"] = _of_a_member(ask)
        made = meta(str(said["name"]), bases, space)
        for name, item in parts.names(said).items():
            setattr(made, name, item)
        self._described.add(made)
        return made


class _StaticOrClass:
    """A static or class method: it always asks the class that it was taken from."""

    def __init__(self, ask: Any, name: str, said: dict[str, Any], decode: Any) -> None:
        self._ask, self._name, self._said, self._decode = ask, name, said, decode

    def __get__(self, it: Any, kind: type) -> Any:
        ask, name = self._ask, self._name

        def called(*arguments: Any, **named: Any) -> Any:
            return ask("method", kind, name, arguments, named)

        return stubs.dressed(called, self._said, self._decode)


def _of_a_member(ask: Any) -> Any:
    def __getattr__(self: Any, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return ask("get", self, name)

    return __getattr__


def _abstract(self: Any, *arguments: Any, **named: Any) -> Any:
    raise NotImplementedError


_abstract.__isabstractmethod__ = True  # type: ignore[attr-defined]
