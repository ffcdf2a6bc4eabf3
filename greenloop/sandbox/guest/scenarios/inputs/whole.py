"""What tests use that run as they are, in a process without pytest"""

from __future__ import annotations

import types
from contextlib import suppress
from typing import Any

from .. import classes

_MAX_DEPTH = 3
_NUMBERS = (int, float, complex)


class Raising:
    """Stands in for `pytest.raises`, whatever exception is expected."""

    value: Any = None

    def __enter__(self) -> Raising:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: object) -> bool:
        if error is None:
            raise AssertionError("did not raise")
        self.value = self.exception = error
        self.type = kind
        return isinstance(error, Exception)


class IndistinctError(Exception):
    """A value equals what a test expects, and something else too."""


class UnequalHashError(Exception):
    """Two values are equal, and their hashes are not."""


def equal(left: Any, right: Any) -> Any:
    """Return what `left == right` gives.

    Raises:
        IndistinctError: `left` equals another value than `right`, too.
        UnequalHashError: they are of one class, and sets and dictionaries take them for different.
    """
    answer = left == right
    is_alike = is_split = False
    with suppress(Exception):  # an equality that other values are no operands of
        is_alike = bool(answer) and bool(left == change(right))
    if is_alike:
        raise IndistinctError(f"{type(left).__name__} equals several values")
    with suppress(Exception):  # without a hash
        is_split = bool(answer) and type(left) is type(right) and hash(left) != hash(right)
    if is_split:
        raise UnequalHashError(type(left).__name__)
    return answer


def change(value: Any, depth: int = 0) -> Any:
    """Return another value of the same kind; an object with other fields."""
    kind = type(value)
    if kind is bool:
        return not value
    if kind in _NUMBERS:
        return value + 1
    if kind is str or kind is bytes:
        return value + ("~" if kind is str else b"~")
    if kind is list or kind is tuple:
        return kind([*value, None])
    if kind in (dict, set, frozenset):
        return kind([*(value.items() if kind is dict else value), (object(), None)])
    return object() if depth >= _MAX_DEPTH else _change_fields(value, kind, depth + 1)


def _change_fields(value: Any, kind: Any, depth: int) -> Any:
    """Return an object with other fields; one that equals nothing where it has none."""
    made = object()
    with suppress(Exception):
        made = object.__new__(kind)
        for base in classes.get_bases(kind):
            for item in list(vars(base).values()):
                if type(item) is types.MemberDescriptorType:
                    with suppress(AttributeError):  # a slot that is not set
                        item.__set__(made, change(item.__get__(value), depth))
        own = getattr(value, "__dict__", {})
        vars(made).update({name: change(item, depth) for name, item in own.items()})
    return made
