"""Encoding of values of the module under test as JSON, by the methods of built-in types.

A value is null, a boolean, a text, a small integer, or a list that begins with a tag:

- a tag of `values`, and the parts of the value
- `["subclass", bases, equality, value, field names or null]` of such a type
- `["enum", bases, equality, name, value]`
- `["exception", bases, text, attributes]`
- `["object", bases, equality, fields, names of fields that the equality ignores, number]`
- `["class", bases]`
- `["ndarray", shape, items]`, `["DataFrame", columns, index, rows]`, `["Series", index, items]`
- `["unknown", reason]`

`bases` are `[module, qualified name]` of the class and its bases, `equality` is that of
`classes.find_equality`.
"""

import enum
import sys
from collections.abc import Callable
from typing import Any

from . import classes
from .values import TAGS_BY_TYPE_ID, VALUE_TYPES

_MAX_DEPTH, _ITEM_SIZE, _SMALL_INTEGER = 100, 8, 1 << 53
_NUMPY_SCALAR = ["numpy", "generic"]


# Functions that return the parts of a numpy or pandas table, by its class.
_TABLES: dict[tuple[str, str], Callable[[Any], list[Any]]] = {
    ("numpy", "ndarray"): lambda value: [list(value.shape), value.tolist()],
    ("pandas", "Series"): lambda value: [list(value.index), list(value)],
    ("pandas", "Index"): lambda value: [list(value)],
    ("pandas", "DataFrame"): lambda value: [
        list(value.columns), list(value.index), value.to_numpy().tolist()
    ],
}  # fmt: skip


def _read_table(value: Any, kind: type) -> list[Any] | None:
    """Return name and parts of a table; None for other values."""
    for (module, name), read in _TABLES.items():
        if module in sys.modules and getattr(sys.modules[module], name, None) is kind:
            return [name, *read(value)]
    return None


class TooLargeError(Exception):
    """A value exceeds the maximum size of one observation."""


class Encoder:
    """Encoder of one value of the module, of at most about `max_size` characters."""

    def __init__(
        self, max_size: int, module: str, number: Callable[[Any], int] = lambda value: 0
    ) -> None:
        """`number` returns a distinct number for each object."""
        self._size_left, self._module = max_size, module
        self._path: list[int] = []
        self._number = number

    def encode(self, value: Any) -> Any:
        """Return the value as JSON values. Raises TooLargeError."""
        kind = type(value)
        self._spend(_ITEM_SIZE)
        if value is None or kind is bool:
            return value
        if kind is str:
            self._spend(len(value))
            return value
        if kind is int and -_SMALL_INTEGER < value < _SMALL_INTEGER:
            return value
        if id(value) in self._path or len(self._path) >= _MAX_DEPTH:
            return ["unknown", "a value that contains itself or is nested too deeply"]
        self._path.append(id(value))
        try:
            return self._encode_parts(value, kind)
        finally:
            self._path.pop()

    def _spend(self, size: int) -> None:
        self._size_left -= size
        if self._size_left < 0:
            raise TooLargeError

    def _encode_parts(self, value: Any, kind: type) -> Any:
        tag = TAGS_BY_TYPE_ID.get(id(kind))
        if tag is not None:
            return [tag, *map(self.encode, VALUE_TYPES[tag].read(value))]
        bases, names = classes.get_bases(kind), classes.name_bases(kind)
        if (table := _read_table(value, kind)) is not None:
            return [table[0], *map(self.encode, table[1:])]
        if _NUMPY_SCALAR in names and type(item := value.item()) is not kind:  # else a longdouble
            return self.encode(item)
        if enum.Enum in bases:
            return self._encode_enum(value, kind)
        if BaseException in bases:
            return self.encode_exception(value)
        if type in bases:
            return ["class", classes.name_bases(value)]
        for base in bases:
            tag = TAGS_BY_TYPE_ID.get(id(base))
            if tag is not None:
                return self._encode_subclass(value, kind, tag)
        return self._encode_object(value, kind)

    def _encode_subclass(self, value: Any, kind: type, tag: str) -> list[Any]:
        named = classes.find_attribute(kind, "_fields")
        fields = list(map(classes.exact_text, named)) if type(named) is tuple else None
        content = [tag, *map(self.encode, VALUE_TYPES[tag].read(value))]
        return ["subclass", *self._describe(kind), content, fields]

    def _encode_enum(self, value: Any, kind: type) -> list[Any]:
        own = object.__getattribute__(value, "__dict__")
        content = map(self.encode, (own.get("_name_"), own.get("_value_")))
        return ["enum", *self._describe(kind), *content]

    def encode_exception(self, error: BaseException) -> list[Any]:
        """Return an exception with its text and public attributes. Raises TooLargeError."""
        kind = type(error)
        found = classes.read_attributes(error, kind)
        attributes = {name: self.encode(item) for name, item in found}
        text = self.encode(classes.read_text(error))
        return ["exception", classes.name_bases(kind), text, attributes]

    def _encode_object(self, value: Any, kind: type) -> list[Any]:
        found = classes.read_fields(value, kind, self._module)
        fields = {name: self.encode(item) for name, item in found}
        bases, equality = self._describe(kind)
        compared = classes.read_dataclass_fields(kind)
        is_other = equality != "record"  # whose equality may compare what is not a field, too
        ignored = [name for name in fields if not compared.get(name, is_other)]
        return ["object", bases, equality, fields, ignored, self._number(value)]

    def _describe(self, kind: type) -> tuple[list[list[str]], str]:
        return classes.name_bases(kind), classes.find_equality(kind)
