"""What one side does for the other: calls, attributes, operators, awaiting."""

from __future__ import annotations

import copy
import threading
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio  # loaded only where something is awaited: see `preload`

_SLICE_S = 0.005
_NOTHING = object()


class Serving:
    """All operations on objects, without asking whether they may be done."""

    def __init__(self) -> None:
        self._before: dict[tuple[int, str], Any] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def operations(self) -> dict[str, Callable[..., Any]]:
        return {
            "call": lambda it, arguments, named: it(*arguments, **dict(named)),
            "method": self._method,
            "inherited": lambda owner, it, name, arguments, named: getattr(owner, name)(
                it, *arguments, **dict(named)
            ),
            "get": getattr,
            "set": self._set,
            "del": self._delete,
            "special": self._special,
            "names": dir,
            "isinstance": lambda kind, it: isinstance(it, kind),
            "copy": lambda it, deep: copy.deepcopy(it) if deep else copy.copy(it),
            "start": self._start,
            "step": self._step,
            "cancel": lambda task: task.cancel(),
            "finish": self._finish,
        }

    def _method(self, it: Any, name: str, arguments: Any, named: Any) -> Any:
        return getattr(it, name)(*arguments, **dict(named))

    def _special(self, it: Any, name: str, arguments: Any, named: Any = ()) -> Any:
        return getattr(type(it), name)(it, *arguments, **dict(named))

    def _set(self, it: Any, name: str, value: Any) -> None:
        """What a module or class had under a name is kept: a patch is taken back by deleting it."""
        if isinstance(it, (types.ModuleType, type)):
            key = (id(it), name)
            before = self._before.setdefault(key, vars(it).get(name, _NOTHING))
            if before is value:
                del self._before[key]
        setattr(it, name, value)

    def _delete(self, it: Any, name: str) -> None:
        before = self._before.pop((id(it), name), _NOTHING)
        if before is _NOTHING:
            delattr(it, name)
        else:
            setattr(it, name, before)

    def _start(self, awaitable: Any) -> Any:
        import asyncio

        if self._loop is None:
            self._loop = asyncio.new_event_loop()

        async def waiting() -> Any:
            return await awaitable

        return self._loop.create_task(waiting())

    def _step(self, task: Any) -> tuple[bool, Any]:
        """Lets all that was started go on for a moment: whether this one is done, and its result."""
        import asyncio

        assert self._loop is not None
        if not task.done():
            self._loop.run_until_complete(asyncio.wait({task}, timeout=_SLICE_S))
        return (True, task.result()) if task.done() else (False, None)

    def _finish(self, awaitable: Any) -> Any:
        """In a loop of its own: the one of this thread is in the middle of something."""
        import asyncio

        found: list[Any] = []

        async def waiting() -> Any:
            return await awaitable

        def run() -> None:
            try:
                found.append((asyncio.run(waiting()), None))
            except BaseException as error:
                found.append((None, error))

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        value, error = found[0]
        if error is not None:
            raise error
        return value


def waiter(ask: Callable[..., Any], leads: bool) -> Callable[[Any], Any]:
    """How an awaitable of the other side is awaited: step by step, so that others go on meanwhile."""

    async def at_once(awaitable: Any) -> Any:
        return ask("finish", awaitable)

    async def by_steps(awaitable: Any) -> Any:
        import asyncio

        task = ask("start", awaitable)
        try:
            while True:
                done, value = ask("step", task)
                if done:
                    return value
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            ask("cancel", task)
            raise

    return by_steps if leads else at_once
