"""Replacements of pytest's fixtures that programs may request, for a process without pytest."""

import io
import os
import pathlib
import pkgutil
import shutil
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

_MISSING: Any = object()


def create_fixture(name: str, folder: str, stack: ExitStack) -> Any:
    """Return a fixture; `stack` undoes what it changes, `folder` is the path of `tmp_path`.

    Raises KeyError if there is no fixture of this name.
    """
    return _FIXTURES[name](folder, stack)


class MonkeyPatch:
    """Replacement of `pytest.MonkeyPatch`, for changes of an attribute, item or variable."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def setattr(self, target: Any, name: Any, value: Any = _MISSING, raising: bool = True) -> None:
        if value is _MISSING:  # the target is a dotted path
            path, _, last = target.rpartition(".")
            target, name, value = pkgutil.resolve_name(path), last, name
        if raising:
            getattr(target, name)
        if name in vars(target):
            self._stack.callback(setattr, target, name, vars(target)[name])
        else:
            self._stack.callback(delattr, target, name)
        setattr(target, name, value)

    def delattr(self, target: Any, name: Any = _MISSING, raising: bool = True) -> None:
        if name is _MISSING:
            path, _, name = target.rpartition(".")
            target = pkgutil.resolve_name(path)
        if raising or hasattr(target, name):
            self._stack.callback(setattr, target, name, vars(target).get(name))
            delattr(target, name)

    @contextmanager
    def context(self) -> Iterator["MonkeyPatch"]:
        """Provide another one whose changes are undone at the end of the block."""
        with ExitStack() as stack:
            yield MonkeyPatch(stack)

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
        rest = f"{prepend}{os.environ[name]}" if prepend and name in os.environ else ""
        self.setitem(os.environ, name, f"{value}{rest}")

    def delenv(self, name: str, raising: bool = True) -> None:
        self.delitem(os.environ, name, raising)

    def chdir(self, path: Any) -> None:
        self._stack.callback(os.chdir, os.getcwd())
        os.chdir(path)


class Captured(NamedTuple):
    """Output since the last call of `readouterr`."""

    out: str
    err: str


class Capture:
    """Replacement of `pytest.CaptureFixture`, for output to `sys.stdout` and `sys.stderr`."""

    def __init__(self, stack: ExitStack) -> None:
        self._out, self._err = (
            io.TextIOWrapper(io.BytesIO(), "utf-8", newline="", write_through=True) for _ in "oe"
        )
        stack.enter_context(redirect_stdout(self._out))
        stack.enter_context(redirect_stderr(self._err))

    def readouterr(self) -> Captured:
        """Return and clear the captured output."""
        texts: list[str] = []
        for stream in (self._out, self._err):
            stream.seek(0)
            texts.append(stream.read())
            stream.seek(0)
            stream.truncate()
        return Captured(*texts)


def _create_folder(folder: str, stack: ExitStack) -> pathlib.Path:
    path = pathlib.Path(folder)
    path.mkdir(exist_ok=True)
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return path


_FIXTURES: dict[str, Callable[[str, ExitStack], Any]] = {
    "tmp_path": _create_folder,
    "monkeypatch": lambda folder, stack: MonkeyPatch(stack),
    "capsys": lambda folder, stack: Capture(stack),
    "doctest_namespace": lambda folder, stack: {},
}
