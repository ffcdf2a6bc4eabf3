"""Rate limits shared by runs: concurrent calls, requests and tokens per minute."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass

from aiolimiter import AsyncLimiter

from greenloop.llm.budget import estimate_tokens


@dataclass(frozen=True)
class LLMCall:
    """A planned call; `model` is None for a recorded answer, which costs nothing."""

    tool: str
    characters: int
    model: str | None = None


# Entering the context waits until the call may be made, and holds its slot; it raises
# GreenloopError where the call may not be made at all.
RateLimits = Callable[[LLMCall], AbstractAsyncContextManager[None]]


class LocalRateLimits:
    """Limits for all runs of one event loop (None: no limit of that kind).

    Requests and tokens are leaky buckets: those of one minute may be used at once.
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
    async def __call__(self, call: LLMCall) -> AsyncIterator[None]:
        """Wait for a slot, a request and an estimate of the call's tokens."""
        tokens = max(estimate_tokens(call.characters), 1)
        async with self._slots or nullcontext():
            if self._requests is not None:
                await self._requests.acquire()
            if self._tokens is not None:
                # A call with more tokens than a minute allows takes the whole minute.
                await self._tokens.acquire(min(tokens, self._tokens.max_rate))
            yield
