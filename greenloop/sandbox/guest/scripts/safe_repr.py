"""The values of a frame's names as short text: what no secret is, made without the script's own code.

Built-in values are written here, and instances of the script's classes by their attributes: their
`__repr__` is not called. That of other classes (of the standard library, of packages) is.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterator
from typing import Any

_MOST_NAMES, _MOST_ITEMS, _DEEPEST = 12, 6, 3
_TEXT, _PART, _MESSAGE = 200, 80, 4000
_SECRET = re.compile(
    r"pass(wor[dt]|wd|phrase)|pwd|token|secret|credential|authori[sz]ation|bearer|private"
    r"|cookie|session_?id|(api|access|signing|encryption|ssh|auth)_?key|_key$|^auth$",
    re.I,
)
_MAYBE_SECRET = re.compile(r"key|auth", re.I)  # so are keys of dicts called; the value decides
_SECRET_VALUE = re.compile(
    r"sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[abprs]-[\w-]{10,}|AKIA[A-Z0-9]{16}"
    r"|AIza[\w-]{30,}|hf_\w{20,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|bearer\s+[\w.~+/-]{12,}|://[^/\s:@]+:[^/\s@]+@",
    re.I,
)
_LONG_WORD = re.compile(r"(?=\S*[0-9])(?=\S*[A-Za-z])\S{16,}")
_MASK = "***"
_WORD = re.compile(r"[^\W\d]\w*")
_NO_VALUES = (
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    type,
)
_SHORTEST_SECRET = 8  # shorter ones are ordinary words, too, and would be taken out of sentences


def is_secret(name: str, value: Any) -> bool:
    """Whether a value is not to be shown, by its name or by what it looks like."""
    if issubclass(type(value), (bool, type(None))):
        return False
    text = _as_text(value)
    if _SECRET.search(name):
        return True
    if text is None:
        return False
    if _SECRET_VALUE.search(text[:_MESSAGE]):
        return True
    return bool(_MAYBE_SECRET.search(name) and _LONG_WORD.fullmatch(text[:_MESSAGE]))


def _as_text(value: Any) -> str | None:
    if issubclass(type(value), str):
        return str.__str__(value)
    if issubclass(type(value), bytes):
        return bytes.decode(value, "latin-1")
    return None


def secrets_of(frames: list[types.FrameType]) -> list[str]:
    """The texts of all secrets among the names of these frames, the longest first."""
    found = set()
    for frame in frames:
        for name, value in _names(frame):
            text = _as_text(value)
            if text is not None and len(text) >= _SHORTEST_SECRET and is_secret(name, value):
                found.add(text)
    return sorted(found, key=len, reverse=True)


def without(hidden: list[str], told: Any) -> Any:
    """Plain values with no secret in their texts."""
    if isinstance(told, str):
        for secret in hidden:
            told = told.replace(secret, _MASK)
        return _SECRET_VALUE.sub(_MASK, told)
    if isinstance(told, list):
        return [without(hidden, item) for item in told]
    if isinstance(told, dict):
        return {name: without(hidden, item) for name, item in told.items()}
    return told


def _names(frame: types.FrameType) -> Iterator[tuple[str, Any]]:
    """What a person would call variables: no modules, functions, classes or names of Python's."""
    for name, value in list(frame.f_locals.items()):
        if type(name) is not str or (name.startswith("__") and name.endswith("__")):
            continue
        if not issubclass(type(value), _NO_VALUES):
            yield name, value


class Values:
    """Short texts of values. `work` is the folder of the run's own files, `hidden` are secrets."""

    def __init__(self, work: str, hidden: list[str]) -> None:
        self._work, self._hidden = work, hidden

    def of(self, frame: types.FrameType, line: str) -> list[list[str]]:
        """[name, text] of some of a frame's names: those in its line come first."""
        mentioned = set(_WORD.findall(line))
        found = sorted(_names(frame), key=lambda pair: pair[0] not in mentioned)
        return [[name[:_PART], self._masked(name, value)] for name, value in found[:_MOST_NAMES]]

    def _masked(self, name: str, value: Any) -> str:
        if is_secret(name, value):
            return _MASK
        try:
            text = self._shown(value, 0).encode("utf-8", "backslashreplace").decode()
        except BaseException as error:
            return f"<it cannot be shown: {type(error).__name__}>"
        return _cut(str(without(self._hidden, text)), _TEXT)

    def _shown(self, value: Any, depth: int) -> str:
        kind = type(value)
        for base, show in _SCALARS:
            if issubclass(kind, base):
                return str(show(value))
        for base, left, right in _SEQUENCES:
            if issubclass(kind, base):
                return self._sequence(base, value, left, right, depth)
        if issubclass(kind, dict):
            return self._pairs(list(_first(dict.items(value))), dict.__len__(value), depth)
        if issubclass(kind, BaseException):
            arguments = self._shown(vars(BaseException)["args"].__get__(value), depth + 1)
            return f"{_name(kind)}{arguments.replace(',)', ')')}"
        if self._is_own(kind):
            return self._attributes(value, depth)
        return _cut(repr(value), _TEXT)

    def _sequence(self, base: Any, value: Any, left: str, right: str, depth: int) -> str:
        if depth >= _DEEPEST:
            return f"{left}…{right}"
        count = base.__len__(value)
        parts = [_cut(self._shown(item, depth + 1), _PART) for item in _first(base.__iter__(value))]
        more = [f"… {count} in all"] if count > len(parts) else []
        comma = "," if base is tuple and count == 1 else ""
        return f"{left}{', '.join(parts + more)}{comma}{right}"

    def _pairs(self, pairs: list[tuple[Any, Any]], count: int, depth: int) -> str:
        if depth >= _DEEPEST:
            return "{…}"
        parts = []
        for key, item in pairs:
            shown = _cut(self._shown(key, depth + 1), _PART)
            secret = issubclass(type(key), str) and is_secret(str.__str__(key), item)
            text = _MASK if secret else _cut(self._shown(item, depth + 1), _PART)
            parts.append(f"{shown}: {text}")
        more = [f"… {count} in all"] if count > len(parts) else []
        return "{" + ", ".join(parts + more) + "}"

    def _attributes(self, value: Any, depth: int) -> str:
        name = _name(type(value))
        if depth >= _DEEPEST:
            return f"<{name}>"
        try:
            attributes = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return f"<{name}>"
        if type(attributes) is not dict:
            return f"<{name}>"
        parts = []
        for key, item in _first(attributes.items()):
            text = _MASK if is_secret(str(key), item) else self._shown(item, depth + 1)
            parts.append(f"{key}={_cut(text, _PART)}")
        more = ["…"] if len(attributes) > len(parts) else []
        return f"<{' '.join([name, *parts, *more])}>"

    def _is_own(self, kind: type) -> bool:
        """Whether a class is the script's own, or says no more of itself than every object does."""
        shows: object = kind.__repr__
        if shows is object.__repr__:
            return True
        name = type.__dict__["__module__"].__get__(kind)
        file = getattr(sys.modules.get(str(name)), "__file__", None)
        return name == "__main__" or str(file).startswith(self._work)


def _name(kind: type) -> str:
    """Past what its own class may make of it."""
    return str(type.__dict__["__name__"].__get__(kind))


def _first(items: Any) -> Iterator[Any]:
    for _, item in zip(range(_MOST_ITEMS), items, strict=False):
        yield item


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _integer(value: Any) -> str:
    bits = int.bit_length(value)
    return int.__repr__(value) if bits < 1000 else f"<int of {bits} bits>"


def _string(value: Any) -> str:
    count = str.__len__(value)
    shown = str.__repr__(str.__getitem__(value, slice(_TEXT)))
    return shown if count <= _TEXT else f"{shown[:-1]}…' ({count} characters)"


def _bytes(value: Any) -> str:
    count = bytes.__len__(value)
    shown = bytes.__repr__(bytes.__getitem__(value, slice(_TEXT)))
    return shown if count <= _TEXT else f"{shown[:-1]}…' ({count} bytes)"


_SCALARS: list[tuple[type, Any]] = [
    (type(None), lambda value: "None"),
    (bool, lambda value: "True" if int.__index__(value) else "False"),
    (int, _integer),
    (float, float.__repr__),
    (complex, complex.__repr__),
    (str, _string),
    (bytes, _bytes),
]
_SEQUENCES: list[tuple[Any, str, str]] = [
    (list, "[", "]"),
    (tuple, "(", ")"),
    (set, "{", "}"),
    (frozenset, "frozenset({", "})"),
]
