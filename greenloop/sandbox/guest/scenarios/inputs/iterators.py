"""What coroutines and iterators give, which a call returns before they have run."""

from __future__ import annotations

import asyncio
import inspect
import types
from collections.abc import Iterator
from typing import Any

_MAX_ITEMS = 1000


def finish(value: Any) -> Any:
    """Return what a coroutine returns, and the first items of an iterator."""
    if inspect.iscoroutine(value):
        return asyncio.run(value)
    if isinstance(value, types.AsyncGeneratorType):
        return "async iterator", asyncio.run(_collect(value))
    if isinstance(value, Iterator):
        return "iterator", [item for _, item in zip(range(_MAX_ITEMS), value, strict=False)]
    return value


async def _collect(items: Any) -> list[Any]:
    found: list[Any] = []
    async for item in items:
        found.append(item)
        if len(found) >= _MAX_ITEMS:
            break
    return found
