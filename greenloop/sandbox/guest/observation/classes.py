"""Inspection of classes of the module under test; only exceptions have their methods called."""

import builtins
import enum
import sys
import types
from collections.abc import Iterator
from typing import Any

from .values import TAGS_BY_TYPE_ID

get_bases: Any = type.__dict__["__mro__"].__get__
_get_namespace: Any = type.__dict__["__dict__"].__get__
_get_qualname: Any = type.__dict__["__qualname__"].__get__
_get_module: Any = type.__dict__["__module__"].__get__
_get_code: Any = types.FunctionType.__dict__["__code__"].__get__
_get_globals: Any = types.FunctionType.__dict__["__globals__"].__get__
_get_attribute = object.__getattribute__
_BUILTINS = dict(vars(builtins))
_STANDARD_MODULES = frozenset(sys.stdlib_module_names)
_WRAPPER = type(object.__eq__)
_ROUTINES = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)
_EXCEPTION_ATTRIBUTES = ("__cause__", "__context__", "__notes__")
_NAMES_OF_EQUALITY = {"__class__", "NotImplemented"}
_NOT_REPLACED = ("__ne__", "__getattribute__")
_OTHER_OPERATORS = "__lt__ __le__ __gt__ __ge__ __bool__ __len__ __contains__ __iter__".split()
_FLAG_OPERATORS = "__or__ __and__ __xor__ __ror__ __rand__ __rxor__ __contains__ __bool__".split()


def exact_text(value: Any) -> str:
    """Return a text as an instance of `str` itself; '?' for other values."""
    return str.__str__(value) if issubclass(type(value), str) else "?"


def name_bases(kind: type) -> list[list[str]]:
    """Return `[module, qualified name]` of a class and its bases; `?` for false built-in names."""
    return [[_name_module(base), exact_text(_get_qualname(base))] for base in get_bases(kind)]


def _name_module(kind: type) -> str:
    try:
        module = exact_text(_get_module(kind))
        name = exact_text(_get_qualname(kind))
    except Exception:
        return "?"
    is_known = module != "builtins" or _BUILTINS.get(name, kind) is kind
    return module if is_known else "?"


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in _STANDARD_MODULES


def is_plain(value: Any) -> bool:
    """Return whether a value is of a type that is transferred exactly."""
    return value is None or type(value) is bool or id(type(value)) in TAGS_BY_TYPE_ID


def has_own_operator(value: Any, name: str) -> bool:
    """Return whether a value has an operator of its own; `name` is `add` for `__add__`."""
    if is_plain(value):
        return False
    found = (find_attribute(type(value), f"__{prefix}{name}__") for prefix in ("", "r"))
    return any(item is not None and type(item) is not _WRAPPER for item in found)


def find_attribute(kind: type, name: str) -> Any:
    """Return the attribute of a class or its bases with this name; None if there is none."""
    spaces = map(_get_namespace, get_bases(kind))
    return next((space[name] for space in spaces if name in space), None)


def find_equality(kind: type) -> str:
    """Return the kind of `__eq__` that a class has.

    "builtin", "identity" (that of `object`), "record" (of a dataclass, which compares the values of
    its fields), or "own"; "operators" if a subclass of a built-in type has others of its own.
    """
    found = _find_method(kind)
    is_usual = found in ("builtin", "identity")
    return "operators" if is_usual and _replaces_operators(kind) else found


def _find_method(kind: type) -> str:
    for base in get_bases(kind):
        if base is object:
            break
        method = _get_namespace(base).get("__eq__")
        if method is not None and (id(base) in TAGS_BY_TYPE_ID or base is enum.Enum):
            return "own" if _has_own_operators(kind) else "builtin"
        if method is not None:
            return "record" if _is_generated(method, kind) else "own"
    return "own" if _has_own_operators(kind) else "identity"


def _has_own_operators(kind: type) -> bool:
    """Return whether a flag has other operators than those of the standard library."""
    if enum.Flag not in get_bases(kind):
        return False
    usual = [_get_namespace(base) for base in (enum.Flag, enum.IntFlag, int)]
    found = {name: find_attribute(kind, name) for name in _FLAG_OPERATORS}
    return not all(any(item.get(k) is v for item in usual) for k, v in found.items())


def _replaces_operators(kind: type) -> bool:
    """Return whether a subclass of a built-in type, or an enumeration, has operators of its own."""
    bases = get_bases(kind)
    if enum.Enum not in bases and not any(id(base) in TAGS_BY_TYPE_ID for base in bases):
        return False
    own = (base for base in bases if not _is_standard(_name_module(base)))
    return any(name in _get_namespace(base) for base in own for name in _OTHER_OPERATORS)


def _is_generated(method: Any, kind: type) -> bool:
    """Return whether `dataclass` generated an `__eq__` for the fields of this class.

    It reads the fields by name, so the class may not compute the values of these names.
    """
    if type(method) is not types.FunctionType:
        return False
    code = _get_code(method)
    compared = {name for name, is_compared in read_dataclass_fields(kind).items() if is_compared}
    return (
        bool(compared)
        and code.co_filename == "<string>"  # dataclasses compile theirs from a text
        and {*code.co_names} - _NAMES_OF_EQUALITY == compared
        and _NAMES_OF_EQUALITY.isdisjoint(_get_globals(method))
        and all(find_attribute(kind, name) is getattr(object, name) for name in _NOT_REPLACED)
        and not any(_is_computed(find_attribute(kind, name)) for name in compared)
    )


def _is_computed(attribute: Any) -> bool:
    """Return whether a descriptor of the class, other than a slot, computes a field's value."""
    is_slot = type(attribute) is types.MemberDescriptorType
    return not is_slot and find_attribute(type(attribute), "__set__") is not None


def read_dataclass_fields(kind: type) -> dict[str, bool]:
    """Return whether the equality of a dataclass compares each field, by name."""
    found = find_attribute(kind, "__dataclass_fields__")
    items = list(found.items()) if type(found) is dict else []
    fields = [(exact_text(name), item) for name, item in items if _is_field(item)]
    return {name: bool(getattr(item, "compare", True)) for name, item in fields}


def _is_field(item: Any) -> bool:
    """Return whether it is a field, not a class variable or parameter of `__post_init__`."""
    return getattr(getattr(item, "_field_type", None), "name", "") == "_FIELD"


def read_fields(value: Any, kind: type, module: str) -> Iterator[tuple[str, Any]]:
    """Yield names and values in the slots and the `__dict__` of an object.

    Objects of the standard library's classes have none, unless `module` shadows their module.
    """
    home = _name_module(kind)
    if home != module and _is_standard(home):
        return
    for base in get_bases(kind):
        for name, item in list(_get_namespace(base).items()):
            if type(item) is types.MemberDescriptorType:
                try:
                    yield name, item.__get__(value)
                except AttributeError:  # a slot that is not set
                    continue
    yield from _read_dictionary(value)


def _read_dictionary(value: Any) -> Iterator[tuple[str, Any]]:
    try:
        own = _get_attribute(value, "__dict__")
    except Exception:
        return
    if type(own) is dict:
        yield from ((name, item) for name, item in list(own.items()) if type(name) is str)


def read_attributes(error: BaseException, kind: type) -> Iterator[tuple[str, Any]]:
    """Yield names and values of an exception's attributes that tests read, by `getattr`."""
    names = [name for name, _ in _read_dictionary(error)]
    names += [name for base in get_bases(kind)[:-1] for name in list(_get_namespace(base))]
    for name in (*dict.fromkeys(names), *_EXCEPTION_ATTRIBUTES):
        if name[:1] == "_" and name not in _EXCEPTION_ATTRIBUTES:
            continue
        try:
            item = getattr(error, name)
        except BaseException:
            continue
        if type(item) not in _ROUTINES:
            yield name, item


def read_text(error: object) -> str:
    """Return an exception's text; '' if that fails."""
    try:
        return exact_text(str(error))
    except BaseException:
        return ""
