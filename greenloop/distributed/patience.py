"""A bucket that refuses for a moment is asked again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from greenloop.errors import StoreError

_PAUSE_S = 2.0
P = ParamSpec("P")
T = TypeVar("T")


async def patiently(seconds: float, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work`, which blocks, comes to in a thread; tried again for so many seconds.

    Raises:
        StoreError: the last try failed too.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            return await asyncio.to_thread(work, *args, **kwargs)
        except StoreError:
            if time.monotonic() >= until:
                raise
        await asyncio.sleep(_PAUSE_S)
