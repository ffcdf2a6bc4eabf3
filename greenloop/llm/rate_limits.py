"""One limit for the calls of many runs: how many at once, requests and tokens a minute."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from aiolimiter import AsyncLimiter

from greenloop.llm.budget import estimate_tokens


@dataclass(frozen=True)
class LLMCall:
    """A call that is about to go out. `model` is None for a recorded answer: it costs nothing."""

    tool: str
    characters: int
    model: str | None = None


class RateLimits(Protocol):
    """What a call waits for before it goes out."""

    def call(self, call: LLMCall) -> AbstractAsyncContextManager[None]:
        """Waits until it may go out; holds its place while it is.

        Raises:
            BudgetExhaustedError, SettingsError: it may never go out.
        """
        ...


class LocalRateLimits:
    """Shared by all runs of one event loop. None: no limit of that kind.

    `requests` and `tokens` are per minute, and may all be used up at once: a leaky bucket.
    """

    def __init__(
        self,
        max_concurrent: int | None = None,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
    ) -> None:
        self._slots = asyncio.Semaphore(max_concurrent) if max_concurrent else None
        self._requests = AsyncLimiter(requests_per_minute, 60) if requests_per_minute else None
        self._tokens = AsyncLimiter(tokens_per_minute, 60) if tokens_per_minute else None

    @asynccontextmanager
    async def call(self, call: LLMCall) -> AsyncIterator[None]:
        """Waits for its place, and for its share of the minute; about as many tokens as it has."""
        tokens = estimate_tokens(call.characters)
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
