"""The process of the tests: pytest, with a proxy where the module under test should be."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import shutil
import signal
import sys
import types
from collections.abc import Sequence
from typing import Any

from . import by_name, guard, judging, tracebacks
from .around_tests import AroundTests
from .codec import Codec
from .judging import Judging
from .mirrors import Mirrors
from .peer import Peer
from .permission import Permission
from .post import Post
from .referring import Referring
from .serving import Serving, waiter
from .special import may_be_read
from .wire import Wire

_MOST = 500
_THREADS = ("threading", "Thread", "concurrent")


def begun(job: dict[str, Any], channel: Any) -> TestsSide:
    """What pytest, about to collect, is to have as a plugin. `wire`: to hear, to say, how it ended."""
    texts = [_read(os.path.join(job["work"], name)) for name in job["targets"]]
    hear, say, ended = job["wire"]
    side = TestsSide(job, Wire(hear, say, lambda: _last_words(ended)), texts)
    side.begin(channel)
    return side


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _last_words(handle: int) -> str:
    said = os.read(handle, 64).decode("ascii", "replace")
    if not said.lstrip("-").isdecimal():
        return "the code under test is gone"
    status = int(said)
    if status >= 0:
        return f"the code under test ended its process (exit status {status})"
    name = signal.Signals(-status).name if -status in set(signal.Signals) else status
    return f"the code under test lost its process ({name})"


class TestsSide:
    """The proxy's finder and loader, and pytest's plugin for what is peculiar to this form."""

    def __init__(self, job: dict[str, Any], wire: Wire, texts: Sequence[str]) -> None:
        self._name, self._work = str(job["module"]), str(job["work"]) + os.sep
        self._targets = [os.path.join(job["work"], name) for name in job["targets"]]
        self._texts = tuple(texts)
        names = judging.named_in(texts, self._name)
        self._classes = tuple(sorted(name for name in names if judging.is_class_name(name)))
        self._threads = any(word in text for word in _THREADS for text in texts)
        self._begun: tuple[Any, ...] | None = None
        codec = self._codec = Codec(0)
        self._post = Post(wire, leads=True)
        self._around = AroundTests(codec)
        self._peer = Peer(self._post, codec, self._around)
        self._post.answer = self._peer.answer
        self._judging = Judging(codec, self._peer.ask, names, self._refuse)
        self._connect(Permission(codec, self._work))

    def _connect(self, permission: Permission) -> None:
        codec, peer = self._codec, self._peer
        refers = Referring(codec, permission.is_own, lambda kind: False, True, [self._name])
        mirrors = Mirrors(self._ask, waiter(peer.ask, leads=True), codec.decode)
        refers.derived = mirrors.is_derived
        codec.refer, codec.by_name = refers.refer, by_name.harmless
        codec.mirror = lambda said: (
            _Module(self) if said["form"] == "module" else mirrors.made(said)
        )

        def describe(value: Any) -> dict[str, Any]:
            if not mirrors.is_derived(value if isinstance(value, type) else type(value)):
                permission.to_hand_out(value)
            return refers.describe(value)

        codec.describe = describe
        peer.serve = permission.guarded(Serving().operations(), self._refuse)
        peer.rebuilt = tracebacks.put

    def _refuse(self, what: str) -> None:
        """The code was not let do something; so what came of it is not what would have come."""
        self._peer.refused = what

    def _ask(self, operation: str, it: Any, *rest: Any) -> Any:
        if operation == "operator":
            return self._judging.operator(it, *rest)
        return self._peer.ask(operation, it, *rest)

    def ask(self, operation: str, *arguments: Any) -> Any:
        return self._peer.ask(operation, *arguments)

    def begin(self, channel: Any) -> None:
        """Called when pytest is about to run."""
        from _pytest.monkeypatch import MonkeyPatch

        self._channel = channel
        self._around.settle(MonkeyPatch)
        sys.meta_path.insert(0, _Finder(self._name, self))
        if self._threads:
            self._post.stand_by()
        guard.keep(self._work, self._texts)()

    def module(self) -> Any:
        """The proxy. Raises what the module raises while it is imported."""
        if self._begun is None:
            source = self.ask("begin", self._classes, self._threads)
            tracebacks.keep_source(f"{self._work}{self._name}.py", str(source))
            self._begun = self.ask("module")
            self._begun[0].__doc__ = self._begun[1]
        return self._begun[0]

    def pytest_collection_finish(self) -> None:
        """From here on the tests are in memory only: nothing can be made to read them."""
        for path in self._targets:
            tracebacks.keep_source(path, _read(path))
            os.unlink(path)
        shutil.rmtree(os.path.join(self._work, "__pycache__"), ignore_errors=True)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._judging.running = nodeid

    def pytest_sessionfinish(self, session: Any) -> None:
        rests = list(self._judging.rests)
        if rests:
            self._channel.send("own_equality", ids=rests)
        why = self._peer.trouble or self._peer.refused
        if why is not None:  # also where a test has swallowed it
            session.exitstatus = max(int(session.exitstatus), 1)
            self._channel.send(
                "failure",
                id=self._judging.running,
                phase="teardown",
                exception="Apart",
                message=f"what happened is not what would have happened in one process: {why}"[
                    :_MOST
                ],
            )


class _Module(types.ModuleType):
    """The module under test, as far as one may look at it from here."""

    def __init__(self, side: TestsSide) -> None:
        types.ModuleType.__init__(self, side._name)
        _inner(self)["__file__"] = f"{side._work}{side._name}.py"
        _inner(self)["_split_side"] = side

    def __getattr__(self, name: str) -> Any:
        if not may_be_read(name) or name == "__wrapped__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if name == "__all__":
            return self._public()
        return _inner(self)["_split_side"].ask("get", self, name)

    def _public(self) -> Any:
        names = dir(self)
        if "__all__" in names:
            return _inner(self)["_split_side"].ask("get", self, "__all__")
        return [name for name in names if not name.startswith("_")]

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__") and name.endswith("__"):
            types.ModuleType.__setattr__(self, name, value)
        else:
            _inner(self)["_split_side"].ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        _inner(self)["_split_side"].ask("del", self, name)

    def __dir__(self) -> Any:
        return _inner(self)["_split_side"].ask("names", self)

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        """As `vars` shows it: what is there now, with what the import system has put here."""
        found = {name: item for name, item in _inner(self).items() if name.startswith("__")}
        names = (name for name in dir(self) if not name.startswith("__"))
        return {**found, **{name: getattr(self, name) for name in names}}


def _inner(module: types.ModuleType) -> dict[str, Any]:
    """What the proxy itself has."""
    found: dict[str, Any] = types.ModuleType.__dict__["__dict__"].__get__(module)  # type: ignore[index]
    return found


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, name: str, side: TestsSide) -> None:
        self._name, self._side, self._loaded = name, side, False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self._name:
            return None
        origin = f"{self._side._work}{name}.py"
        return importlib.machinery.ModuleSpec(name, self, origin=origin)

    def create_module(self, spec: Any) -> Any:
        return self._side.module()

    def exec_module(self, module: Any) -> None:
        if self._loaded:
            self._side.ask("reload")
        self._loaded = True
