"""Stand-ins, in the process of the tests, for classes and objects of the module under test."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Literal

from .descriptions import Bases, Description, NotObservableError, describe, normalize_bases

Kind = Literal["class", "enum", "flag", "record"]
_FLAG = ("enum", "Flag")
REQUIRED: Any = object()


class Opaque:
    """An object of the module: its fields can be read, and it can be compared with an expected one."""

    def __init__(self, description: Description) -> None:
        self.observed__ = description

    def __getattr__(self, name: str) -> Any:
        return self.observed__.get_field(name)

    def __eq__(self, other: object) -> Any:
        described = describe(other)
        if self is other:
            return True
        if described is not None:
            return self.observed__.equals(described)
        equality, is_expected = self.observed__.equality, self.observed__.is_expected
        if equality == "own" or (is_expected and equality != "record"):
            raise self.observed__.refuse("its own equality")
        return NotImplemented  # as that of a dataclass does with objects of other classes

    def __hash__(self) -> int:
        if self.observed__.is_expected:
            raise self.observed__.refuse("the hash")
        return hash(self.observed__.name)

    def _refuse(self, *_: Any) -> Any:
        raise self.observed__.refuse("the truth, text or order")

    __bool__ = __str__ = __repr__ = __format__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse


class ObservedException(Opaque):
    """An exception that the code raised or returned."""

    def __init__(self, description: Description, text: str) -> None:
        super().__init__(description)
        self.text__ = text

    def __str__(self) -> str:
        return self.text__

    def __format__(self, specification: str) -> str:
        return format(self.text__, specification)


class EnumMember(Opaque):
    """A member of an enumeration that is no subclass of a built-in type, or an expected member."""

    def __eq__(self, other: object) -> Any:
        described = describe(other)
        mine = self.observed__
        if described is None:
            return super().__eq__(other)
        is_equal = mine.name == described.name and _is_same_member(mine, described)
        if not is_equal and "own" in (mine.equality, described.equality):
            raise mine.refuse("its own equality")
        return is_equal

    def __hash__(self) -> int:
        """Return the hash of the value, as members have it that are numbers or texts."""
        if "value" not in self.observed__.fields:
            raise self.observed__.refuse("the hash")
        try:
            return hash(self.observed__.fields["value"])
        except TypeError:
            return hash(self.observed__.fields["name"])

    def __contains__(self, other: object) -> bool:
        return bool((self & other) == other)

    def __bool__(self) -> bool:
        if not _is_flag(self.observed__):
            raise self.observed__.refuse("the truth")
        return bool(self.observed__.fields["value"])

    def _combine(self, operate: Callable[[int, int], int], other: object) -> Any:
        """Return the flag that an operator of the standard library makes of two."""
        mine, described = self.observed__, describe(other)
        if described is None or described.name != mine.name:
            return NotImplemented
        if not (_is_flag(mine) and _is_flag(described)):
            raise mine.refuse("an operator")
        value = operate(mine.fields["value"], described.fields["value"])
        return EnumMember(mine._replace(fields={"name": None, "value": value}))

    def __or__(self, other: object) -> Any:
        return self._combine(operator.or_, other)

    def __and__(self, other: object) -> Any:
        return self._combine(operator.and_, other)

    def __xor__(self, other: object) -> Any:
        return self._combine(operator.xor, other)

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__


def _is_same_member(one: Description, other: Description) -> bool:
    """Compare flags by their numbers: the names of combinations are not always known."""
    key = "value" if _is_flag(one) and _is_flag(other) else "name"
    return bool(one.fields[key] == other.fields.get(key))


def _is_flag(described: Description) -> bool:
    """Return whether it is one with a known number and the operators of the standard library."""
    is_flag = _FLAG in normalize_bases(described.bases) and described.equality != "own"
    return is_flag and type(described.fields.get("value")) is int


class ClassStandIn:
    """A class of the module: an "enum" or "flag" with members, a "record" to be called, or another.

    `bases` are module and qualified name of the class and, where it was observed, of its bases;
    `fields` its members or fields, each with its value or default, or REQUIRED.
    """

    def __init__(self, bases: Bases, kind: Kind = "class", fields: Sequence[Any] = ()) -> None:
        self.bases__, self.kind__ = bases, kind
        self.has_members__ = kind in ("enum", "flag")
        self.fields__ = dict(fields)

    def __getattr__(self, name: str) -> Any:
        if name in ("__name__", "__qualname__"):
            return self.bases__[0][1]
        if self.has_members__ and name in self.fields__:
            return self[name]
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotObservableError(f"attribute {name} of the class {self.bases__[0][1]}")

    def __getitem__(self, name: str) -> EnumMember:
        value = self.fields__[name]
        known = {} if value is REQUIRED else {"value": value}
        first = next((key for key, item in self.fields__.items() if known and item == value), name)
        fields = {"name": first, **known}
        bases = [*self.bases__, _FLAG] if self.kind__ == "flag" else self.bases__
        return EnumMember(Description(bases, "builtin", fields, is_expected=True))

    def __call__(self, *given: Any, **named: Any) -> Any:
        if self.has_members__:
            return self._find_member(*given)
        if self.kind__ != "record" or len(given) > len(self.fields__):
            raise NotObservableError(f"a call of {self.bases__[0][1]}")
        fields = {**self.fields__, **dict(zip(self.fields__, given)), **named}  # noqa: B905
        if len(fields) > len(self.fields__) or any(item is REQUIRED for item in fields.values()):
            raise NotObservableError(f"a call of {self.bases__[0][1]} with other fields")
        return Opaque(Description(self.bases__, "record", fields, is_expected=True))

    def __contains__(self, value: Any) -> bool:
        if not self.has_members__ and ("enum", "Enum") not in name_bases(self):
            raise NotObservableError(f"membership in the class {self.bases__[0][1]}")
        return name_class(type_of(value)) == name_class(self)

    def _find_member(self, value: Any) -> EnumMember:
        for name, item in self.fields__.items():
            if item is not REQUIRED and item == value:
                return self[name]
        raise NotObservableError(f"a call of {self.bases__[0][1]}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (type, ClassStandIn)) and name_class(self) == name_class(other)

    def __hash__(self) -> int:
        return hash(name_class(self))


def name_class(kind: type | ClassStandIn) -> tuple[str, str]:
    """Return module and qualified name of a class or its stand-in."""
    return name_bases(kind)[0]


def name_bases(kind: type | ClassStandIn) -> list[tuple[str, str]]:
    """Return the same of a class and its bases."""
    if isinstance(kind, ClassStandIn):
        return normalize_bases(kind.bases__)
    return normalize_bases([(base.__module__, base.__qualname__) for base in kind.__mro__])


def type_of(value: Any) -> Any:
    """Return the class of a value, or what stands in for it."""
    described = describe(value)
    return type(value) if described is None else ClassStandIn(described.bases)
