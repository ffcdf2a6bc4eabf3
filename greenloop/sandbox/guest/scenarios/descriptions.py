"""Descriptions of objects of the module under test, as they were observed or are expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

Bases = Sequence[Sequence[str]]


def normalize_bases(bases: Bases) -> list[tuple[str, str]]:
    """Return names of classes without that of a test, which differs between the processes."""
    return [(module, name.rpartition("<locals>.")[2]) for module, name in bases]


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
        return normalize_bases(self.bases)[0]

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


def describe(value: Any) -> Description | None:
    """Return the description of an object of the module, None for other values."""
    found = getattr(value, "__dict__", {}).get("observed__")
    return found if isinstance(found, Description) else None
