"""Stand-ins for the built-in fixtures of pytest, for a process that has no pytest."""

from __future__ import annotations

import logging
import os
import pathlib
import pkgutil
import shutil
import sys
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from tempfile import TemporaryFile
from typing import Any, NamedTuple

_MISSING: Any = object()
_STREAMS = {"stdout": 1, "stderr": 2}
_LOG_FORMAT = "%(levelname)-8s %(name)s:%(filename)s:%(lineno)d %(message)s"


def create_fixture(name: str, folder: str, stack: ExitStack) -> Any:
    """Return the stand-in for a fixture; `stack` undoes what it changes.

    `folder` is the path of `tmp_path`. Raises KeyError for other fixtures.
    """
    return _FIXTURES[name](folder, stack)


class MonkeyPatch:
    """Stands in for `pytest.MonkeyPatch`."""

    def __init__(self) -> None:
        self._stack = ExitStack()

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

    def setenv(self, name: str, value: Any, prepend: str | None = None) -> None:
        old = os.environ.get(name)
        rest = "" if prepend is None or old is None else prepend + old
        self.setitem(os.environ, name, f"{value}{rest}")

    def delenv(self, name: str, raising: bool = True) -> None:
        self.delitem(os.environ, name, raising)

    def syspath_prepend(self, path: Any) -> None:
        self._stack.callback(sys.path.__setitem__, slice(None), list(sys.path))
        sys.path.insert(0, str(path))

    def chdir(self, path: Any) -> None:
        self._stack.callback(os.chdir, os.getcwd())
        os.chdir(path)

    @contextmanager
    def context(self) -> Iterator[MonkeyPatch]:
        inner = MonkeyPatch()
        try:
            yield inner
        finally:
            inner.undo()

    def undo(self) -> None:
        self._stack.close()


class CaptureResult(NamedTuple):
    out: str
    err: str


class Capture:
    """Stands in for `capsys`, and for `capfd` where it captures the descriptors too."""

    def __init__(self, stack: ExitStack, *, with_descriptors: bool) -> None:
        self._files = [stack.enter_context(_redirect(name, with_descriptors)) for name in _STREAMS]

    def readouterr(self) -> CaptureResult:
        return CaptureResult(*map(_take, self._files))

    def disabled(self) -> AbstractContextManager[None]:
        return nullcontext()


@contextmanager
def _redirect(name: str, with_descriptor: bool) -> Iterator[Any]:
    """Redirect a stream of `sys` into a file, and with it the descriptor of the same number."""
    old, target = getattr(sys, name), _STREAMS[name]
    with TemporaryFile("w+", encoding="utf-8", newline="") as file:
        saved = os.dup(target) if with_descriptor else -1
        if with_descriptor:
            os.dup2(file.fileno(), target)
        setattr(sys, name, file)
        try:
            yield file
        finally:
            setattr(sys, name, old)
            if with_descriptor:
                os.dup2(saved, target)
                os.close(saved)


def _take(file: Any) -> str:
    """Return and remove what was written to a file."""
    file.flush()
    handle = file.fileno()
    data = os.pread(handle, os.fstat(handle).st_size, 0)
    os.ftruncate(handle, 0)
    file.seek(0)
    os.lseek(handle, 0, os.SEEK_SET)
    return data.decode("utf-8", "replace")


class Log(logging.Handler):
    """Stands in for `caplog`."""

    def __init__(self, stack: ExitStack) -> None:
        super().__init__(0)
        self._stack = stack
        self.handler = self
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

    def get_records(self, when: str) -> list[logging.LogRecord]:
        return self.records if when == "call" else []

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


class RecordedWarnings(list[Any]):
    """Stands in for `recwarn`: the warnings of the row so far."""

    @property
    def list(self) -> list[Any]:
        return self

    def pop(self, category: Any = Warning) -> Any:
        found = next(item for item in self if issubclass(item.category, category))
        self.remove(found)
        return found


class TemporaryFolders:
    """Stands in for `tmp_path_factory`."""

    def __init__(self, folder: str) -> None:
        self._folder = pathlib.Path(folder)

    def getbasetemp(self) -> pathlib.Path:
        self._folder.mkdir(exist_ok=True)
        return self._folder

    def mktemp(self, basename: str, numbered: bool = True) -> pathlib.Path:
        found = len(list(self.getbasetemp().glob(f"{basename}*"))) if numbered else ""
        path = self.getbasetemp() / f"{basename}{found}"
        path.mkdir()
        return path


def _create_monkeypatch(stack: ExitStack) -> MonkeyPatch:
    made = MonkeyPatch()
    stack.callback(made.undo)
    return made


def _create_folder(folder: str, stack: ExitStack) -> pathlib.Path:
    path = pathlib.Path(folder)
    path.mkdir()
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return path


_FIXTURES: dict[str, Callable[[str, ExitStack], Any]] = {
    "tmp_path": _create_folder,
    "tmp_path_factory": lambda folder, stack: TemporaryFolders(f"{folder}-factory"),
    "monkeypatch": lambda folder, stack: _create_monkeypatch(stack),
    "capsys": lambda folder, stack: Capture(stack, with_descriptors=False),
    "capfd": lambda folder, stack: Capture(stack, with_descriptors=True),
    "caplog": lambda folder, stack: Log(stack),
}
