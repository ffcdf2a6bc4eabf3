"""How each side refers to what is no plain value, and describes it to the other."""

from __future__ import annotations

import enum
import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any

from . import by_name, describing, plain
from .codec import Codec
from .containers import kind_of

_ROUTINES = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
)


class Referring:
    """`is_own(class)`: of this side's own code. `keeps(class)`: crosses as what it is, though a
    subclass of a plain type. `trusted`: names are looked up without being doubted there."""

    def __init__(
        self,
        codec: Codec,
        is_own: Callable[[type], bool],
        keeps: Callable[[type], bool],
        trusted: bool,
        own_modules: Iterable[str],
    ) -> None:
        self._codec, self._is_own, self._keeps = codec, is_own, keeps
        self._trusted, self._own_modules = trusted, frozenset(own_modules)
        self.derived: Callable[[type], bool] = lambda kind: False

    def refer(self, value: Any) -> Any:
        """JSON for a value without a tag of its own."""
        kind = type(value)
        if isinstance(value, enum.Enum):
            return ["e", [self._codec.encode(kind), value._name_, self._enum_value(value)]]
        if isinstance(value, (type, types.ModuleType, *_ROUTINES)):
            named = self._by_name(value)
            return ["g", named] if named is not None else self._codec.own(value)
        if kind is types.TracebackType:  # it is shown with the error; no use over there
            return None
        if isinstance(value, BaseException) or self._keeps(kind):
            return self._codec.own(value)
        if isinstance(value, tuple):
            return self._tuple(value, kind)
        said = plain.collapsed(value)
        if said is not None:
            return said
        container = kind_of(value)
        if container is not None:
            return ["@", self._codec.heap.number(value, container)]
        if isinstance(value, frozenset):
            return ["z", [self._codec.encode(item) for item in frozenset.__iter__(value)]]
        return self._codec.own(value)

    def _enum_value(self, value: Any) -> Any:
        return self._codec.encode(value._value_) if value._name_ is None else None

    def _tuple(self, value: Any, kind: type) -> Any:
        items = [self._codec.encode(item) for item in tuple.__iter__(value)]
        fields = getattr(kind, "_fields", None)
        if isinstance(fields, tuple) and all(type(name) is str for name in fields):
            return ["n", [self._codec.encode(kind), items]]
        return ["t", items]

    def _by_name(self, value: Any) -> list[str] | None:
        named = by_name.name_of(value, self._own_modules)
        if named is None or self._trusted:
            return named
        try:
            return named if by_name.harmless(*named) is value else None
        except LookupError:
            return None

    def describe(self, value: Any) -> dict[str, Any]:
        """The description that `Mirrors` on the other side makes a likeness of."""
        encode = self._codec.encode
        if isinstance(value, type):
            if self.derived(value):
                return self._derived(value)
            return describing.of_class(value, self._is_own(value), encode)
        if isinstance(value, BaseException):
            return self._error(value)
        if isinstance(value, types.ModuleType):
            return {"form": "module"}
        rich = isinstance(value, types.FunctionType) and describing.has_attributes(value)
        if isinstance(value, types.FunctionType) and not rich:
            return {"form": "function", **describing.of_function(value, encode)}
        if isinstance(value, _ROUTINES) and not rich:
            waits = inspect.iscoroutinefunction(value)
            name = str(getattr(value, "__name__", "function"))
            doc = inspect.getdoc(value) if not isinstance(value, types.MethodType) else None
            return {"form": "function", "name": name, "doc": doc, "async": waits}
        said: dict[str, Any] = {"form": "object", "class": self._likened(type(value))}
        if isinstance(value, tuple):
            said["value"] = ["t", [encode(item) for item in tuple.__iter__(value)]]
        elif isinstance(value, plain.VALUE_TYPES):
            said["value"] = plain.collapsed(value)
        return said

    def _likened(self, kind: type) -> Any:
        """Not by name: the real class over there would make real objects."""
        number = self._codec.number_of(kind)
        return self._codec.own(kind) if number is None else ["y", number]

    def _error(self, error: BaseException) -> dict[str, Any]:
        encode, kind = self._codec.encode, type(error)
        said: dict[str, Any] = {"class": encode(kind), "args": encode(tuple(error.args))}
        said["cause"] = encode(error.__cause__)
        said["notes"] = [str(note) for note in getattr(error, "__notes__", ())]
        if said["class"][0] != "g":
            return {"form": "object", **said}
        found = {name: item for name, item in vars(error).items() if not name.startswith("__")}
        said["attributes"] = [[name, encode(item)] for name, item in found.items()]
        return {"form": "error", **said}

    def _derived(self, kind: type) -> dict[str, Any]:
        """A class made by the tests from one of the code's: it is made over there too."""
        skipped = ("__module__", "__qualname__", "__classcell__", "__doc__", "__dict__")
        encode = self._codec.encode
        return {
            "form": "derived",
            "name": kind.__name__,
            "bases": [encode(base) for base in kind.__bases__],
            "space": [
                [name, *_unwrapped(item, encode)]
                for name, item in vars(kind).items()
                if name not in skipped and not name.startswith(("_abc", "__abstract", "__weak"))
            ],
        }


def _unwrapped(item: Any, encode: Callable[[Any], Any]) -> list[Any]:
    if isinstance(item, staticmethod):
        return ["static", encode(item.__func__)]
    if isinstance(item, classmethod):
        return ["class", encode(item.__func__)]
    if isinstance(item, property):
        return ["property", [encode(part) for part in (item.fget, item.fset, item.fdel)]]
    return ["value", encode(item)]


def derived(said: dict[str, Any], decode: Callable[[Any], Any]) -> type:
    """The class that `Referring._derived` described. Only for the side that holds its bases."""
    wrap: dict[str, Any] = {
        "static": staticmethod,
        "class": classmethod,
        "value": lambda item: item,
    }
    space = {}
    for name, how, item in said["space"]:
        if how == "property":
            space[name] = property(*(decode(part) for part in item))
        else:
            space[name] = wrap[how](decode(item))
    bases = tuple(decode(base) for base in said["bases"])
    return types.new_class(said["name"], bases, {}, lambda place: place.update(space))
