"""Short texts of local variables, without secrets."""

import collections
import re
import reprlib
import sys
import types
from collections.abc import Iterator
from itertools import islice
from typing import Any

_MAX_NAMES, _MAX_ITEMS, _MAX_DEPTH = 12, 6, 3
_MAX_TEXT, _MAX_PART, _MAX_MESSAGE = 200, 80, 4000
_SECRET_WORDS = (
    r"pass(?:wor[dt]|wd|phrase)|pwd|token|secret|credential|authori[sz]ation|bearer|private"
    r"|cookie|session_?id|(?:api|access|signing|encryption|ssh|auth)_?key"
)
_SECRET_NAME = re.compile(rf"{_SECRET_WORDS}|_key$|^auth$", re.I)
# `password='…'` and `'password': '…'`, in the text of a container or an object.
_NAMED_SECRET = re.compile(
    rf"(\w*(?:{_SECRET_WORDS})\w*['\"]?\s*[=:]\s*)('[^']*'|\"[^\"]*\"|[^\s,)}}\]]+)", re.I
)
_POSSIBLE_SECRET_NAME = re.compile(r"key|auth", re.I)  # also a dict's key: the value decides
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
_BUILT_IN_TYPES = (int, str, list, tuple, set, frozenset, dict, collections.deque)
_MIN_SECRET_LENGTH = 8  # shorter texts may be ordinary words


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


class _ScriptRepr(reprlib.Repr):
    """Repr that shows instances of the script's classes by attributes, without calling code."""

    def __init__(self, work: str) -> None:
        super().__init__()
        for name in [item for item in vars(self) if item.startswith("max")]:
            setattr(self, name, _MAX_ITEMS)
        self.maxlevel = _MAX_DEPTH
        self.maxstring = self.maxlong = self.maxother = _MAX_TEXT
        self._work = work

    def repr1(self, value: Any, level: int) -> str:
        """Choose by the identity of the type, not by its name, which a metaclass may compute."""
        is_built_in = any(type(value) is item for item in _BUILT_IN_TYPES)
        return super().repr1(value, level) if is_built_in else self.repr_instance(value, level)

    def repr_instance(self, value: Any, level: int) -> str:
        kind = type(value)
        if not self._is_of_script(kind):
            return super().repr_instance(value, level)
        try:
            attributes = object.__getattribute__(value, "__dict__")
        except AttributeError:
            attributes = {}
        known = attributes.items() if type(attributes) is dict and level > 0 else ()
        parts = [f" {key}={self.repr1(item, level - 1)}" for key, item in islice(known, _MAX_ITEMS)]
        return f"<{_read_slot(kind, '__name__')}{''.join(parts)}>"

    def _is_of_script(self, kind: type) -> bool:
        own_repr: object = kind.__repr__
        name = _read_slot(kind, "__module__")
        file = getattr(sys.modules.get(name), "__file__", None)
        in_work = name == "__main__" or str(file).startswith(self._work)
        return own_repr is object.__repr__ or in_work


def _read_slot(kind: type, name: str) -> str:
    """Return the name or the module of a class, whatever its metaclass does."""
    return str(type.__dict__[name].__get__(kind))


class ValueFormatter:
    """Formatter of values; `work` is the folder of the run's files, `secrets` are masked."""

    def __init__(self, work: str, secrets: list[str]) -> None:
        self._secrets, self._repr = secrets, _ScriptRepr(work)

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
            text = self._repr.repr(value).encode("utf-8", "backslashreplace").decode()
        except BaseException as error:
            return f"<cannot be formatted: {type(error).__name__}>"
        masked = _NAMED_SECRET.sub(rf"\1{_MASK}", str(mask_secrets(self._secrets, text)))
        return masked if len(masked) <= _MAX_TEXT else f"{masked[: _MAX_TEXT - 1]}…"
