"""Short texts of local variables, without secrets and without calling the script's own code.

Built-in values and instances of the script's classes are formatted here, the latter by their
attributes. Only classes of the standard library and of packages have their `__repr__` called.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

_MAX_NAMES, _MAX_ITEMS, _MAX_DEPTH = 12, 6, 3
_MAX_TEXT, _MAX_PART, _MAX_MESSAGE = 200, 80, 4000
_SECRET_NAME = re.compile(
    r"pass(wor[dt]|wd|phrase)|pwd|token|secret|credential|authori[sz]ation|bearer|private"
    r"|cookie|session_?id|(api|access|signing|encryption|ssh|auth)_?key|_key$|^auth$",
    re.I,
)
_POSSIBLE_SECRET_NAME = re.compile(r"key|auth", re.I)  # also names of dict keys: the value decides
_SECRET_VALUE = re.compile(
    r"sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[abprs]-[\w-]{10,}|AKIA[A-Z0-9]{16}"
    r"|AIza[\w-]{30,}|hf_\w{20,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|bearer\s+[\w.~+/-]{12,}|://[^/\s:@]+:[^/\s@]+@",
    re.I,
)
_LONG_WORD = re.compile(r"(?=\S*[0-9])(?=\S*[A-Za-z])\S{16,}")
_MASK = "***"
_WORD = re.compile(r"[^\W\d]\w*")
_NON_VALUE_TYPES = (
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    type,
)
_MIN_SECRET_LENGTH = 8  # shorter ones are ordinary words, which sentences may contain


def is_secret(name: str, value: Any) -> bool:
    """Return whether a value must not be shown, by its name or its form."""
    if issubclass(type(value), (bool, type(None))):
        return False
    text = _as_text(value)
    if _SECRET_NAME.search(name):
        return True
    if text is None:
        return False
    if _SECRET_VALUE.search(text[:_MAX_MESSAGE]):
        return True
    return bool(_POSSIBLE_SECRET_NAME.search(name) and _LONG_WORD.fullmatch(text[:_MAX_MESSAGE]))


def _as_text(value: Any) -> str | None:
    if issubclass(type(value), str):
        return str.__str__(value)
    if issubclass(type(value), bytes):
        return bytes.decode(value, "latin-1")
    return None


def find_secrets(frames: list[types.FrameType]) -> list[str]:
    """Return the texts of all secrets among the variables of these frames, longest first."""
    found = set()
    for frame in frames:
        for name, value in _iterate_variables(frame):
            text = _as_text(value)
            if text is not None and len(text) >= _MIN_SECRET_LENGTH and is_secret(name, value):
                found.add(text)
    return sorted(found, key=len, reverse=True)


def mask_secrets(secrets: list[str], value: Any) -> Any:
    """Return plain values with the secrets in their texts masked."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, _MASK)
        return _SECRET_VALUE.sub(_MASK, value)
    if isinstance(value, list):
        return [mask_secrets(secrets, item) for item in value]
    if isinstance(value, dict):
        return {name: mask_secrets(secrets, item) for name, item in value.items()}
    return value


def _iterate_variables(frame: types.FrameType) -> Iterator[tuple[str, Any]]:
    """Yield variables: no modules, functions, classes or dunder names."""
    for name, value in list(frame.f_locals.items()):
        if type(name) is not str or (name.startswith("__") and name.endswith("__")):
            continue
        if not issubclass(type(value), _NON_VALUE_TYPES):
            yield name, value


class ValueFormatter:
    """Formats values; `work` is the folder of the run's files, `secrets` are masked."""

    def __init__(self, work: str, secrets: list[str]) -> None:
        self._work, self._secrets = work, secrets

    def format_variables(self, frame: types.FrameType, line: str) -> list[list[str]]:
        """Return [name, text] of some of a frame's variables, those in its line first."""
        mentioned = set(_WORD.findall(line))
        found = sorted(_iterate_variables(frame), key=lambda pair: pair[0] not in mentioned)
        return [
            [name[:_MAX_PART], self._format_masked(name, value)]
            for name, value in found[:_MAX_NAMES]
        ]

    def _format_masked(self, name: str, value: Any) -> str:
        if is_secret(name, value):
            return _MASK
        try:
            text = self._format_value(value, 0).encode("utf-8", "backslashreplace").decode()
        except BaseException as error:
            return f"<cannot be formatted: {type(error).__name__}>"
        return _truncate(str(mask_secrets(self._secrets, text)), _MAX_TEXT)

    def _format_value(self, value: Any, depth: int) -> str:
        kind = type(value)
        for base, show in _SCALAR_FORMATTERS:
            if issubclass(kind, base):
                return str(show(value))
        for base, left, right in _SEQUENCE_BRACKETS:
            if issubclass(kind, base):
                return self._format_sequence(base, value, left, right, depth)
        if issubclass(kind, dict):
            return self._format_pairs(
                list(islice(dict.items(value), _MAX_ITEMS)), dict.__len__(value), depth
            )
        if issubclass(kind, BaseException):
            arguments = self._format_value(vars(BaseException)["args"].__get__(value), depth + 1)
            return f"{_class_name(kind)}{arguments.replace(',)', ')')}"
        if self._is_script_class(kind):
            return self._format_attributes(value, depth)
        return _truncate(repr(value), _MAX_TEXT)

    def _format_sequence(self, base: Any, value: Any, left: str, right: str, depth: int) -> str:
        if depth >= _MAX_DEPTH:
            return f"{left}…{right}"
        count = base.__len__(value)
        parts = [
            _truncate(self._format_value(item, depth + 1), _MAX_PART)
            for item in islice(base.__iter__(value), _MAX_ITEMS)
        ]
        more = [f"… {count} in all"] if count > len(parts) else []
        comma = "," if base is tuple and count == 1 else ""
        return f"{left}{', '.join(parts + more)}{comma}{right}"

    def _format_pairs(self, pairs: list[tuple[Any, Any]], count: int, depth: int) -> str:
        if depth >= _MAX_DEPTH:
            return "{…}"
        parts = []
        for key, item in pairs:
            shown = _truncate(self._format_value(key, depth + 1), _MAX_PART)
            secret = issubclass(type(key), str) and is_secret(str.__str__(key), item)
            text = _MASK if secret else _truncate(self._format_value(item, depth + 1), _MAX_PART)
            parts.append(f"{shown}: {text}")
        more = [f"… {count} in all"] if count > len(parts) else []
        return "{" + ", ".join(parts + more) + "}"

    def _format_attributes(self, value: Any, depth: int) -> str:
        name = _class_name(type(value))
        if depth >= _MAX_DEPTH:
            return f"<{name}>"
        try:
            attributes = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return f"<{name}>"
        if type(attributes) is not dict:
            return f"<{name}>"
        parts = []
        for key, item in islice(attributes.items(), _MAX_ITEMS):
            text = _MASK if is_secret(str(key), item) else self._format_value(item, depth + 1)
            parts.append(f"{key}={_truncate(text, _MAX_PART)}")
        more = ["…"] if len(attributes) > len(parts) else []
        return f"<{' '.join([name, *parts, *more])}>"

    def _is_script_class(self, kind: type) -> bool:
        """Return whether a class is the script's own, or has the `__repr__` of `object`."""
        own_repr: object = kind.__repr__
        if own_repr is object.__repr__:
            return True
        name = type.__dict__["__module__"].__get__(kind)
        file = getattr(sys.modules.get(str(name)), "__file__", None)
        return name == "__main__" or str(file).startswith(self._work)


def _class_name(kind: type) -> str:
    """Return a class's name, whatever its metaclass does."""
    return str(type.__dict__["__name__"].__get__(kind))


def _truncate(text: str, max_length: int) -> str:
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


def _format_integer(value: Any) -> str:
    bits = int.bit_length(value)
    return int.__repr__(value) if bits < 1000 else f"<int of {bits} bits>"


def _format_text(base: Any, unit: str, value: Any) -> str:
    count = base.__len__(value)
    shown = str(base.__repr__(base.__getitem__(value, slice(_MAX_TEXT))))
    return shown if count <= _MAX_TEXT else f"{shown[:-1]}…' ({count} {unit})"


_SCALAR_FORMATTERS: list[tuple[type, Any]] = [
    (type(None), lambda value: "None"),
    (bool, lambda value: "True" if int.__index__(value) else "False"),
    (int, _format_integer),
    (float, float.__repr__),
    (complex, complex.__repr__),
    (str, partial(_format_text, str, "characters")),
    (bytes, partial(_format_text, bytes, "bytes")),
]
_SEQUENCE_BRACKETS: list[tuple[Any, str, str]] = [
    (list, "[", "]"),
    (tuple, "(", ")"),
    (set, "{", "}"),
    (frozenset, "frozenset({", "})"),
]
