"""Stand-ins, in the process of the tests, for classes and objects of the module under test."""

from __future__ import annotations

import collections
import decimal
import fractions
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

Bases = Sequence[Sequence[str]]
Kind = Literal["class", "enum", "record"]
REQUIRED: Any = object()


class NotObservableError(BaseException):
    """A stand-in cannot answer what the test asks of it. No `except Exception` of a test stops it."""


class Description(NamedTuple):
    """What is known of an object: its class with bases, whose equality it has, and its fields.

    `is_expected`: built by a test, not observed; `ignored` are fields that equality ignores.
    """

    bases: Bases
    equality: str
    fields: dict[str, Any]
    ignored: Sequence[str] = ()
    is_expected: bool = False

    @property
    def name(self) -> tuple[str, str]:
        """Module and qualified name of the class."""
        return name_class(ClassStandIn(self.bases))

    def get_field(self, name: str) -> Any:
        """Return a field. Raises NotObservableError, and AttributeError for special names."""
        if name in self.fields:
            return self.fields[name]
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.refuse(f"attribute {name}")

    def refuse(self, what: str) -> NotObservableError:
        return NotObservableError(f"{what} of an object of {self.bases[0][-1]}")

    def equals(self, other: Description) -> bool:
        """Return whether two objects are equal. Raises NotObservableError.

        Two objects that the code gave prove nothing about each other: a class that forgets its
        fields has only equal ones.
        """
        if self.is_expected == other.is_expected:
            raise self.refuse("equality with another object")
        observed, expected = (other, self) if self.is_expected else (self, other)
        names = [name for name in expected.fields if name not in observed.ignored]
        if self.name != other.name:
            return False
        if not {*names} <= {*observed.fields}:
            raise observed.refuse("fields")
        is_equal = all(bool(expected.fields[name] == observed.fields[name]) for name in names)
        if not is_equal and observed.equality not in ("record", "builtin"):
            raise observed.refuse("its own equality")
        return is_equal


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
        if self.observed__.equality == "own" or self.observed__.is_expected:
            raise self.observed__.refuse("its own equality")
        return NotImplemented

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
        is_equal = mine.name == described.name and mine.fields["name"] == described.fields.get(
            "name"
        )
        if not is_equal and "own" in (mine.equality, described.equality):
            raise mine.refuse("its own equality")
        return is_equal

    def __hash__(self) -> int:
        return hash((self.observed__.name, self.observed__.fields["name"]))


class ClassStandIn:
    """A class of the module.

    Args:
        bases: Module and qualified name of the class and, where it was observed, of its bases.
        kind: "enum" has members, and a "record" (dataclass or named tuple) can be called.
        fields: Names of members or fields, each with its value or default, or REQUIRED.
    """

    def __init__(self, bases: Bases, kind: Kind = "class", fields: Sequence[Any] = ()) -> None:
        self.bases__, self.kind__ = bases, kind
        self.fields__ = dict(fields)

    def __getattr__(self, name: str) -> Any:
        if name in ("__name__", "__qualname__"):
            return self.bases__[0][1]
        if self.kind__ == "enum" and name in self.fields__:
            return self[name]
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotObservableError(f"attribute {name} of the class {self.bases__[0][1]}")

    def __getitem__(self, name: str) -> EnumMember:
        value = self.fields__[name]
        known = {} if value is REQUIRED else {"value": value}
        first = next((key for key, item in self.fields__.items() if known and item == value), name)
        fields = {"name": first, **known}
        return EnumMember(Description(self.bases__, "builtin", fields, is_expected=True))

    def __call__(self, *given: Any, **named: Any) -> Any:
        if self.kind__ == "enum":
            return self._find_member(*given)
        if self.kind__ != "record" or len(given) > len(self.fields__):
            raise NotObservableError(f"a call of {self.bases__[0][1]}")
        fields = {**self.fields__, **dict(zip(self.fields__, given)), **named}  # noqa: B905
        if len(fields) > len(self.fields__) or any(item is REQUIRED for item in fields.values()):
            raise NotObservableError(f"a call of {self.bases__[0][1]} with other fields")
        return Opaque(Description(self.bases__, "record", fields, is_expected=True))

    def __contains__(self, value: Any) -> bool:
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
        names: Any = kind.bases__
    else:
        names = [(base.__module__, base.__qualname__) for base in kind.__mro__]
    return [(module, _drop_function(name)) for module, name in names]


def _drop_function(name: str) -> str:
    """Return a qualified name without that of a test, which differs between the processes."""
    return name.rpartition("<locals>.")[2]


def describe(value: Any) -> Description | None:
    """Return the description of an object of the module, None for other values."""
    found = getattr(value, "__dict__", {}).get("observed__")
    return found if isinstance(found, Description) else None


def type_of(value: Any) -> Any:
    """Return the class of a value, or what stands in for it."""
    described = describe(value)
    return type(value) if described is None else ClassStandIn(described.bases)


def _create_subclass(kind: Any) -> Any:
    """Return a class for values of subclasses of a built-in type."""

    def __eq__(self: Any, other: object) -> Any:
        is_equal = kind.__eq__(self, other)
        if is_equal is not True and self.observed__.equality == "own":
            raise self.observed__.refuse("its own equality")
        return is_equal

    def __ne__(self: Any, other: object) -> Any:
        is_equal = self == other
        return is_equal if is_equal is NotImplemented else not is_equal

    def __getattr__(self: Any, name: str) -> Any:
        return self.observed__.get_field(name)

    own = {
        "__eq__": __eq__,
        "__ne__": __ne__,
        "__hash__": kind.__hash__,
        "__getattr__": __getattr__,
    }
    return type(kind.__name__, (kind,), own)


_SUBCLASSABLE_TYPES = (
    *(int, float, complex, str, bytes, bytearray, decimal.Decimal, fractions.Fraction),
    *(tuple, list, set, frozenset, dict, collections.OrderedDict, collections.Counter),
    *(collections.defaultdict, collections.deque),
)
_SUBCLASSES = {kind: _create_subclass(kind) for kind in _SUBCLASSABLE_TYPES}


def build_subclass_value(value: Any, description: Description) -> Any:
    """Return a built-in value that remembers its class; one that cannot be subclassed as it is."""
    subclass = _SUBCLASSES.get(type(value))
    if subclass is None:
        return value
    arguments = (None, value) if isinstance(value, collections.defaultdict) else (value,)
    made = subclass(*arguments)
    made.observed__ = description
    return made
