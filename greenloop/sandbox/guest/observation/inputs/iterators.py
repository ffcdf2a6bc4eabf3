"""Results of coroutines and items of iterators, which a call returns before they have run."""

import inspect
import types
from collections.abc import Coroutine, Iterator
from typing import Any

_MAX_ITEMS = 1000


def finish(value: Any) -> Any:
    """Return the result of a coroutine or the first items of an iterator; else the value itself."""
    if inspect.iscoroutine(value):
        return _run(value)
    if isinstance(value, types.AsyncGeneratorType):
        return "async iterator", _run(_collect(value))
    if isinstance(value, Iterator):
        return "iterator", [item for _, item in zip(range(_MAX_ITEMS), value, strict=False)]
    return value


def _run(awaited: Coroutine[Any, Any, Any]) -> Any:
    import asyncio  # slow to load

    return asyncio.run(awaited)


async def _collect(items: Any) -> list[Any]:
    found: list[Any] = []
    async for item in items:
        found.append(item)
        if len(found) >= _MAX_ITEMS:
            break
    return found
