"""One limit for the calls of many runs: how many at once, requests and tokens a minute."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from aiolimiter import AsyncLimiter

from greenloop.llm.budget import estimated_tokens


@dataclass(frozen=True)
class Call:
    """A call that is about to go out. `model` is None for a recorded answer: it costs nothing."""

    tool: str
    characters: int
    model: str | None = None


class Limits(Protocol):
    """What a call waits for before it goes out."""

    def call(self, call: Call) -> AbstractAsyncContextManager[None]:
        """Waits until it may go out; holds its place while it is.

        Raises:
            BudgetExhaustedError, SettingsError: it may never go out.
        """
        ...


class CallLimits:
    """Shared by all runs of one event loop. None: no limit of that kind.

    `requests` and `tokens` are per minute, and may all be used up at once: a leaky bucket.
    """

    def __init__(
        self,
        at_once: int | None = None,
        requests: int | None = None,
        tokens: int | None = None,
    ) -> None:
        self._slots = asyncio.Semaphore(at_once) if at_once else None
        self._requests = AsyncLimiter(requests, 60) if requests else None
        self._tokens = AsyncLimiter(tokens, 60) if tokens else None

    @asynccontextmanager
    async def call(self, call: Call) -> AsyncIterator[None]:
        """Waits for its place, and for its share of the minute; about as many tokens as it has."""
        tokens = estimated_tokens(call.characters)
        if self._slots is None:
            await self._wait(tokens)
            yield
            return
        async with self._slots:
            await self._wait(tokens)
            yield

    async def _wait(self, tokens: int) -> None:
        if self._requests is not None:
            await self._requests.acquire()
        if self._tokens is not None:
            # A call of more than a minute's tokens could never go out: it takes the whole minute.
            await self._tokens.acquire(min(max(tokens, 1), self._tokens.max_rate))
