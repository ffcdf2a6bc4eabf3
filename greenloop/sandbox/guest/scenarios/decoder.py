"""Decoding of observed values, in the process of the tests: plain values and stand-ins."""

from __future__ import annotations

import builtins
import collections
import contextlib
import decimal
import fractions
import functools
from collections.abc import Callable, Sequence
from typing import Any

from .descriptions import Description, NotObservableError
from .stand_ins import ClassStandIn, EnumMember, ObservedException, Opaque
from .value_types import VALUE_TYPES

_NAMED_TUPLE_METHODS = ("__getnewargs__", "__repr__")  # that `namedtuple` generates


def decode(content: Any) -> Any:
    """Return the value that `encoder` encoded.

    Raises:
        NotObservableError: it was too large, or contains itself.
        Exception: this is not what an encoder writes.
    """
    if not isinstance(content, list):
        return content
    tag, *parts = content
    if tag in VALUE_TYPES:
        return VALUE_TYPES[tag].build([decode(item) for item in parts])
    return _DECODERS[tag](*parts)


def has_objects(content: Any) -> bool:
    """Return whether an encoded value has parts that may have an equality of their own.

    Of other objects a stand-in says only which class they have and what is in them: their other
    operators cannot be observed.
    """
    if not isinstance(content, list):
        return False
    tag, *parts = content
    if tag == "subclass":
        _, equality, value, names, overridden = parts
        generated = {*_NAMED_TUPLE_METHODS, *names} if names is not None else set[str]()
        return equality != "builtin" or bool({*overridden} - generated) or has_objects(value)
    if tag == "enum":
        return parts[1] not in ("builtin", "identity") or has_objects(parts[-1])
    if tag == "exception":
        return any(map(has_objects, parts[-1].values()))
    if tag == "object":
        return parts[1] == "own" or any(map(has_objects, parts[2].values()))
    return tag != "class" and any(map(has_objects, parts))


def _decode_subclass(
    bases: Any, equality: str, content: Any, names: list[str] | None, overridden: list[str]
) -> Any:
    value = decode(content)
    fields = dict(zip(names, value, strict=True)) if names is not None else {}
    return _build_subclass_value(value, Description(bases, equality, fields), overridden)


def _decode_enum(bases: Any, equality: str, name: str, content: Any) -> Any:
    value = decode(content)
    description = Description(bases, equality, {"name": name, "value": value})
    if ["builtins", type(value).__name__] in bases:
        return _build_subclass_value(value, description, _SHOWING_METHODS)
    return EnumMember(description)


def _decode_fields(fields: dict[str, Any]) -> dict[str, Any]:
    decoded = {}
    for name, item in fields.items():
        with contextlib.suppress(NotObservableError):  # a field that cannot be read is left out
            decoded[name] = decode(item)
    return decoded


def decode_exception(bases: Any, text: str, attributes: dict[str, Any]) -> ObservedException:
    """Return a stand-in for an exception."""
    return ObservedException(Description(bases, "identity", _decode_fields(attributes)), text)


def _decode_object(bases: Any, equality: str, fields: dict[str, Any], ignored: list[str]) -> Opaque:
    return Opaque(Description(bases, equality, _decode_fields(fields), ignored))


def _decode_class(bases: Any) -> Any:
    module, name = bases[0]
    known = getattr(builtins, name, None) if module == "builtins" else None
    return known if isinstance(known, type) else ClassStandIn(bases)


def build_call(*arguments: Any, **keywords: Any) -> Any:
    """Return what a mock notes of a call."""
    from unittest.mock import call  # not before: a module that forgets this import must fail

    return call(*arguments, **keywords)


def _decode_call(arguments: Any, keywords: Any) -> Any:
    return build_call(*decode(arguments), **decode(keywords))


def _decode_unknown(reason: str) -> Any:
    raise NotObservableError(reason)


_DECODERS: dict[str, Callable[..., Any]] = {
    "subclass": _decode_subclass,
    "enum": _decode_enum,
    "exception": decode_exception,
    "object": _decode_object,
    "class": _decode_class,
    "call": _decode_call,
    "unknown": _decode_unknown,
}


def _build_subclass_value(value: Any, description: Description, overridden: Sequence[str]) -> Any:
    """Return a built-in value that remembers its class, without the methods that this has itself.

    A value that cannot have a subclass is returned as it is.
    """
    kind: Any = type(value)
    if kind not in _SUBCLASSABLE_TYPES:
        return value
    arguments = (None, value) if kind is collections.defaultdict else (value,)
    subclass = _create_subclass(kind, tuple(overridden))
    made = subclass.__new__(subclass, *arguments)
    made.observed__ = description  # before methods are called, of which some refuse
    made.__init__(*arguments)
    return made


@functools.cache
def _create_subclass(kind: Any, overridden: tuple[str, ...]) -> Any:
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

    own = {name: _refuse_method(name) for name in overridden}
    own |= {"__eq__": __eq__, "__ne__": __ne__, "__hash__": kind.__hash__}
    return type(kind.__name__, (kind,), {**own, "__getattr__": __getattr__})


def _refuse_method(name: str) -> Callable[..., Any]:
    def refuse(self: Any, *_: Any, **__: Any) -> Any:
        raise self.observed__.refuse(name)

    return refuse


_SHOWING_METHODS = ("__str__", "__repr__", "__format__")
_SUBCLASSABLE_TYPES = (
    *(int, float, complex, str, bytes, bytearray, decimal.Decimal, fractions.Fraction),
    *(tuple, list, set, frozenset, dict, collections.OrderedDict, collections.Counter),
    *(collections.defaultdict, collections.deque),
)
