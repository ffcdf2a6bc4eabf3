"""The process of the code under test: loads the module, then does what the tests ask for."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

from ..entrypoints import calls
from . import by_name, tracebacks
from .around_code import AroundCode
from .codec import Codec
from .errors import Broken
from .mirrors import Mirrors
from .peer import Peer
from .post import Post
from .referring import Referring, derived
from .serving import Serving, waiter
from .wire import Wire

_MOST_SOURCE = 1 << 20


def main(job: dict[str, Any], handle: int) -> int:
    """Serves until the tests are through. `handle` and the one after it are the wire."""
    side = _CodeSide(job, Wire(handle, handle + 1))
    side.load()
    try:
        side.peer.listen()
    except Broken as error:
        with contextlib.suppress(Broken):  # it is usually the tests that are through
            side.peer.give_up(f"the code's side did not understand: {error}")
    return 0


class _CodeSide:
    def __init__(self, job: dict[str, Any], wire: Wire) -> None:
        self._name, self._work = str(job["module"]), str(job["work"])
        self._kept: frozenset[str] = frozenset()
        self._error: BaseException | None = None
        codec = self._codec = Codec(1)
        self._post = Post(wire, leads=False)
        around = AroundCode(codec)
        self.peer = Peer(self._post, codec, around)
        self._post.answer = self.peer.answer
        refers = Referring(codec, self._is_own, self._keeps, False, [self._name])
        mirrors = Mirrors(self._ask, waiter(self.peer.ask, leads=False), codec.decode)
        codec.refer, codec.describe, codec.by_name = refers.refer, refers.describe, by_name.found
        codec.mirror = lambda said: (
            derived(said, codec.decode) if said["form"] == "derived" else mirrors.made(said)
        )
        self._operations: dict[str, Any] = {
            **Serving().operations(),
            "begin": self._begin,
            "module": self._module,
            "reload": self._reload,
        }
        self.peer.serve = lambda operation, arguments: self._operations[operation](*arguments)
        self.peer.raised_with = lambda error: tracebacks.of(error, self._work + os.sep)
        around.settle()

    def _ask(self, operation: str, it: Any, *rest: Any) -> Any:
        if operation == "operator":
            operation = "special"
        return self.peer.ask(operation, it, *rest)

    def _is_own(self, kind: type) -> bool:
        return not by_name.is_standard(kind.__module__)

    def _keeps(self, kind: type) -> bool:
        """Classes made from plain ones that the tests name: the others cross as plain values."""
        return kind.__name__ in self._kept and self._is_own(kind)

    def load(self) -> None:
        """Runs the module; what it raises is kept for whoever imports it."""
        sys.path.insert(0, self._work)
        try:
            calls.load_module(self._work, self._name)
        except BaseException as error:
            self._error = error

    def _begin(self, names: Any, threads: bool) -> Any:
        """`names`: words written like class names that the tests use. The source, to show lines of."""
        module = sys.modules.get(self._name)
        here = {name for name, item in vars(module).items() if isinstance(item, type)}
        self._kept = frozenset(names) & here
        if threads:
            self._post.stand_by()
        return self._source()

    def _module(self) -> Any:
        """Raises what the module raised while it was loaded."""
        if self._error is not None:
            raise self._error
        module = sys.modules[self._name]
        return module, module.__doc__

    def _reload(self) -> None:
        module = sys.modules[self._name]
        loader = getattr(module.__spec__, "loader", None)
        if loader is not None:
            loader.exec_module(module)

    def _source(self) -> str:
        path = os.path.join(self._work, f"{self._name}.py")
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_SOURCE)
