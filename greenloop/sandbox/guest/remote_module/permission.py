"""What the code under test may do with what the tests hand to it: use it, not look behind it."""

from __future__ import annotations

import io
import queue
import random
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from .codec import Codec
from .errors import CannotSplit
from .special import SPECIAL

_TOOLS = (
    io.IOBase,
    queue.Queue,
    random.Random,
    threading.Event,
    type(threading.Lock()),
    threading.Barrier,
)
_OPEN_IN_MOCKS = {"return_value", "side_effect", "called", "call_count"}
_INNER = ("gi_", "cr_", "ag_", "tb_", "f_", "co_", "func_")


class Permission:
    """`is_own(class)`: defined in a test file."""

    def __init__(self, codec: Codec, work: str) -> None:
        import unittest.mock

        self._codec, self._work = codec, work
        self._mock = unittest.mock.NonCallableMock
        self._of_mocks = frozenset(dir(self._mock)) - _OPEN_IN_MOCKS

    def is_own(self, kind: type) -> bool:
        """Whether a class was defined in a test file."""
        module = sys.modules.get(kind.__module__)
        return str(getattr(module, "__file__", "")).startswith(self._work)

    def to_hand_out(self, value: Any) -> None:
        """Raises CannotSplit where an object is none that the code may use."""
        kind = type(value)
        if isinstance(
            value, type
        ):  # described with each object; whether it may be called: see below
            return
        if (
            (callable(value) and not isinstance(value, types.ModuleType))
            or self._is_open(value)
            or isinstance(value, (BaseException, *_TOOLS))
            or hasattr(kind, "__next__")
            or hasattr(kind, "__await__")
            or hasattr(kind, "__anext__")
            or kind is object
            or hasattr(kind, "__iter__")
        ):
            return
        name = f"{kind.__module__}.{kind.__qualname__}"
        raise CannotSplit(f"a {name} cannot be handed to the code in another process")

    def _is_open(self, value: Any) -> bool:
        return isinstance(value, self._mock) or self.is_own(type(value))

    def guarded(
        self, operations: dict[str, Callable[..., Any]], refused: Callable[[str], None]
    ) -> Callable[[str, Any], Any]:
        """Does an operation if it may be done; else `refused` hears of it.

        What is done raises PermissionError or AttributeError where it may not be done.
        """

        def serve(operation: str, arguments: Any) -> Any:
            if not arguments or not self._codec.gave(arguments[0]):
                refused(f"{operation} of what was never handed over")
                raise PermissionError("this was never handed over")
            if not self._may(operation, *arguments):
                kind, name = _error_for(operation, *arguments)
                if not name.startswith("_"):  # these `functools` and `inspect` look for in vain
                    refused(f"{operation} {name} of a {type(arguments[0]).__name__}")
                raise kind(f"{operation} {name} of this is not for the code under test")
            return operations[operation](*arguments)

        return serve

    def _may(self, operation: str, it: Any, name: Any = None, *_: Any) -> bool:
        if operation in ("call", "finish"):
            return not isinstance(it, type) or self._may_be_made(it)
        if operation == "special":
            return name in SPECIAL and name != "__init__"
        if operation in ("get", "method"):
            return isinstance(name, str) and self._may_read(it, name)
        if operation in ("set", "del"):
            closed = name in self._of_mocks or str(name).startswith(("_", "assert"))
            return self._is_open(it) and isinstance(name, str) and not closed
        return operation in ("isinstance", "copy") and (isinstance(it, type) or self._is_open(it))

    def _may_be_made(self, kind: type) -> bool:
        return self.is_own(kind) or issubclass(kind, (BaseException, self._mock))

    def _may_read(self, it: Any, name: str) -> bool:
        if name in ("__name__", "__doc__", "__qualname__"):
            return True
        if name.startswith(("_", "assert", *_INNER)):
            return False
        if isinstance(it, type):
            return any(name in vars(kind) for kind in it.__mro__ if self.is_own(kind))
        if isinstance(it, self._mock):
            return name not in self._of_mocks
        return self._is_open(it) or isinstance(it, _TOOLS) or _has_plain(it, name)


def _error_for(operation: str, _: Any, name: Any = "", *rest: Any) -> tuple[type[Exception], str]:
    kind = AttributeError if operation in ("get", "method") else PermissionError
    return kind, str(name)


def _has_plain(error: Any, name: str) -> bool:
    return isinstance(error, BaseException) and name in vars(error)
