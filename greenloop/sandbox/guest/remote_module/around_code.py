"""On the side of the code: what it prints, warns and logs goes to the tests; their patches come here."""

from __future__ import annotations

import io
import logging
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

from .codec import Codec
from .surroundings import Surroundings

_NOTHING = object()


class AroundCode:
    """See `peer.Around`."""

    def __init__(self, codec: Codec) -> None:
        self._codec, self._surroundings = codec, Surroundings()
        self._printed: list[list[str]] = []
        self._warned: list[Any] = []
        self._logged: list[Any] = []
        self._patched: list[tuple[Any, str, Any]] = []

    def settle(self) -> None:
        """Turns this process's streams, warnings and log to here."""
        sys.stdin = io.TextIOWrapper(_Unreadable())
        sys.stdout = _Printed("out", self._printed.append)
        sys.stderr = _Printed("err", self._printed.append)
        warnings.resetwarnings()
        warnings.simplefilter("always")
        warnings.showwarning = self._warn  # type: ignore[assignment]
        logging.getLogger().addHandler(_Logged(self._logged.append))

    def _warn(self, message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
        self._warned.append([category, str(message), filename, lineno])

    def give(self) -> dict[str, Any]:
        found = self._surroundings.give()
        for name, kept in (("printed", self._printed), ("logged", self._logged)):
            if kept:
                found[name] = list(kept)
                kept.clear()
        if self._warned:
            found["warned"] = [[self._codec.encode(kind), *rest] for kind, *rest in self._warned]
            self._warned.clear()
        return found

    def take(self, message: dict[str, Any]) -> None:
        self._surroundings.take(message)
        for name, level in message.get("levels", ()):
            if name is None:
                logging.disable(level)
            else:
                logging.getLogger(name).setLevel(level)
        for seed in message.get("seeds", ()):
            random.seed(*self._codec.decode(seed))
        if "patches" in message:
            self._patch(self._codec.decode(message["patches"]))

    def _patch(self, wanted: Any) -> None:
        while self._patched:
            target, name, before = self._patched.pop()
            if before is _NOTHING:
                delattr(target, name)
            else:
                setattr(target, name, before)
        for target, name, value in wanted:
            self._patched.append((target, name, vars(target).get(name, _NOTHING)))
            setattr(target, name, value)


class _Printed(io.TextIOBase):
    """A stream that hands its text on."""

    encoding = "utf-8"
    errors = "strict"

    def __init__(self, name: str, keep: Callable[[list[str]], None]) -> None:
        self._name, self._keep = name, keep
        self.buffer = _PrintedBytes(self)

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._keep([self._name, str.__str__(text)])
        return len(text)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False


class _PrintedBytes(io.RawIOBase):
    def __init__(self, stream: _Printed) -> None:
        self._stream = stream

    def write(self, data: Any) -> int:
        self._stream.write(bytes(data).decode("utf-8", "replace"))
        return len(data)

    def writable(self) -> bool:
        return True


class _Unreadable(io.RawIOBase):
    """As with pytest: a test that reads standard input has to put something there."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        raise OSError("reading from stdin while output is captured! Consider using `-s`.")


class _Logged(logging.Handler):
    def __init__(self, keep: Callable[[Any], None]) -> None:
        super().__init__()
        self._hand_on = keep

    def emit(self, record: logging.LogRecord) -> None:
        trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else None
        place = [record.pathname, record.lineno, record.funcName]
        self._hand_on([record.name, record.levelno, record.getMessage(), *place, trace])
