"""Stand-ins for built-in fixtures of pytest and `pytest.warns`, for a process without pytest."""

from __future__ import annotations

import logging
import os
import pathlib
import pkgutil
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from . import classes

_MISSING: Any = object()
# References to what the module under test may replace.
_catch_warnings, _simplefilter = warnings.catch_warnings, warnings.simplefilter
_LOG_FORMAT = "%(levelname)-8s %(name)s:%(filename)s:%(lineno)d %(message)s"


def create_fixture(name: str, folder: str, stack: ExitStack) -> Any:
    """Return the stand-in for a fixture; `stack` undoes what it changes.

    `folder` is the path of `tmp_path`. Raises KeyError for other fixtures.
    """
    return _FIXTURES[name](folder, stack)


class MonkeyPatch:
    """Stands in for `pytest.MonkeyPatch`."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack.enter_context(ExitStack())
        self.undo = self._stack.close

    def setattr(self, target: Any, name: Any, value: Any = _MISSING, raising: bool = True) -> None:
        from unittest.mock import patch  # not before: a module that forgets this import must fail

        if value is _MISSING:  # the target is a dotted path
            self._stack.enter_context(patch(target, name, create=not raising))
        else:
            self._stack.enter_context(patch.object(target, name, value, create=not raising))

    def delattr(self, target: Any, name: Any = _MISSING, raising: bool = True) -> None:
        if name is _MISSING:
            path, _, name = target.rpartition(".")
            target = pkgutil.resolve_name(path)
        if raising or hasattr(target, name):
            self.setattr(target, name, None)
            delattr(target, name)

    def setitem(self, mapping: MutableMapping[Any, Any], name: Any, value: Any) -> None:
        self._keep_item(mapping, name)
        mapping[name] = value

    def delitem(self, mapping: MutableMapping[Any, Any], name: Any, raising: bool = True) -> None:
        if raising or name in mapping:
            self._keep_item(mapping, name)
            del mapping[name]

    def _keep_item(self, mapping: MutableMapping[Any, Any], name: Any) -> None:
        if name in mapping:
            self._stack.callback(mapping.__setitem__, name, mapping[name])
        else:
            self._stack.callback(mapping.pop, name, None)

    def setenv(self, name: str, value: Any) -> None:
        self.setitem(os.environ, name, str(value))

    def delenv(self, name: str, raising: bool = True) -> None:
        self.delitem(os.environ, name, raising)

    def chdir(self, path: Any) -> None:
        self._stack.callback(os.chdir, os.getcwd())
        os.chdir(path)


@contextmanager
def silence_warnings() -> Iterator[None]:
    """Show no warnings."""
    with _catch_warnings():
        _simplefilter("always")
        warnings.showwarning = lambda *_, **__: None
        yield


@contextmanager
def record_warnings(shown: list[Any]) -> Iterator[None]:
    """Add class and text of each warning to `shown`."""
    with _catch_warnings(record=True) as caught:
        _simplefilter("always")
        yield
    for item in caught:  # the test itself may record them
        warnings.showwarning(item.message, item.category, item.filename, item.lineno)
        shown.append([classes.name_bases(item.category), classes.read_text(item.message)])


class CaptureResult(NamedTuple):
    out: str
    err: str


class Capture:
    """Stands in for `capsys`."""

    def __init__(self, stack: ExitStack) -> None:
        self._files = [stack.enter_context(_redirect(name)) for name in ("stdout", "stderr")]

    def readouterr(self) -> CaptureResult:
        return CaptureResult(*map(_take, self._files))


@contextmanager
def _redirect(name: str) -> Iterator[Any]:
    """Redirect a stream of `sys` into a file."""
    old = getattr(sys, name)
    with TemporaryFile("w+", encoding="utf-8", newline="") as file:
        setattr(sys, name, file)
        try:
            yield file
        finally:
            setattr(sys, name, old)


def _take(file: Any) -> str:
    """Return and remove what was written to a file."""
    file.seek(0)
    text: str = file.read()
    file.seek(0)
    file.truncate()
    return text


class Log(logging.Handler):
    """Stands in for `caplog`."""

    def __init__(self, stack: ExitStack) -> None:
        super().__init__(0)
        self._stack = stack
        self.records: list[logging.LogRecord] = []
        self.setFormatter(logging.Formatter(_LOG_FORMAT))
        logging.getLogger().addHandler(self)
        stack.callback(logging.getLogger().removeHandler, self)

    def emit(self, record: logging.LogRecord) -> None:
        record.message = record.getMessage()
        self.records.append(record)

    @property
    def messages(self) -> list[str]:
        return [item.getMessage() for item in self.records]

    @property
    def text(self) -> str:
        return "".join(f"{self.format(item)}\n" for item in self.records)

    @property
    def record_tuples(self) -> list[tuple[str, int, str]]:
        return [(item.name, item.levelno, item.getMessage()) for item in self.records]

    def clear(self) -> None:
        self.records.clear()

    def set_level(self, level: int | str, logger: str | None = None) -> None:
        self._stack.enter_context(self.at_level(level, logger))

    @contextmanager
    def at_level(self, level: int | str, logger: str | None = None) -> Iterator[None]:
        found = logging.getLogger(logger)
        old = found.level
        found.setLevel(level)
        try:
            yield
        finally:
            found.setLevel(old)


def _create_folder(folder: str, stack: ExitStack) -> pathlib.Path:
    path = pathlib.Path(folder)
    path.mkdir()
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return path


_FIXTURES: dict[str, Callable[[str, ExitStack], Any]] = {
    "tmp_path": _create_folder,
    "monkeypatch": lambda folder, stack: MonkeyPatch(stack),
    "capsys": lambda folder, stack: Capture(stack),
    "caplog": lambda folder, stack: Log(stack),
}
