"""Budget and rate limits that all runs of a batch share: one actor holds them."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from greenloop.errors import GreenloopError
from greenloop.llm.budget import Budget
from greenloop.llm.rate_limits import LLMCall, LocalRateLimits
from greenloop.records import ToolUsage


@dataclass
class _Account:
    """The account of one run: what it has spent, and its open calls."""

    spent: Budget
    open_calls: dict[int, AsyncExitStack] = field(default_factory=dict)


class SharedBudget:
    """Budget and rate limits, in tokens and US dollars. None means no limit.

    The methods are called from other processes. Each attempt of a run has its own account. What a
    lost attempt has spent is subtracted, because the next attempt records the answers of its log
    again.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
    ) -> None:
        self._total = Budget(max_tokens=max_tokens, max_cost=max_cost)
        self._limits = LocalRateLimits(None, requests_per_minute, tokens_per_minute)
        self._accounts: dict[str, _Account] = {}
        self._call_numbers = itertools.count(1)

    async def open_account(self, run: str) -> None:
        """Open the account of a run."""
        self._accounts[run] = _Account(Budget(parent=self._total))

    async def reserve_call(self, run: str, call: LLMCall) -> int | GreenloopError:
        """Wait until the call is allowed; return its number, or why it never is allowed."""
        account = self._accounts.get(run)
        if account is None:
            return GreenloopError(f"the run {run} was abandoned")  # its node was considered lost
        number = next(self._call_numbers)
        account.open_calls[number] = held = AsyncExitStack()
        try:
            held.enter_context(account.spent.reserve(call.tool, call.characters, call.model))
            await held.enter_async_context(self._limits(call))
        except GreenloopError as error:
            await self.release_call(run, number)
            return error
        return number

    async def release_call(self, run: str, number: int) -> None:
        """Release what the call has reserved."""
        account = self._accounts.get(run)
        held = account.open_calls.pop(number, None) if account else None
        if held is not None:
            await held.aclose()

    async def record_call(self, run: str, tool: str, call: ToolUsage, seconds: float) -> None:
        """Record an answered call."""
        if run in self._accounts:
            self._accounts[run].spent.add_call(tool, call, seconds)

    async def flush(self) -> None:
        """Return after all earlier calls of the same caller: Ray keeps their order."""

    async def close_account(self, run: str, *, is_lost: bool = False) -> None:
        """Close the account of a run; what a lost run has spent is subtracted."""
        account = self._accounts.get(run)
        if account is None:
            return
        for number in list(account.open_calls):
            await self.release_call(run, number)
        if is_lost:
            self._total.subtract(account.spent)
        del self._accounts[run]

    async def cost(self) -> float | None:
        """Return the US dollars of all runs; None if a price is unknown."""
        return self._total.cost


@asynccontextmanager
async def limit_remotely(shared_budget: Any, run: str, call: LLMCall) -> AsyncIterator[None]:
    """Reserve a call of one run with the actor `shared_budget`. Raises GreenloopError."""
    try:
        number = await shared_budget.reserve_call.remote(run, call)
    except Exception as error:  # of Ray, which is not imported here
        raise GreenloopError("the process of this batch's command has ended") from error
    if isinstance(number, GreenloopError):
        raise number
    try:
        yield
    finally:
        # Released only after the caller has recorded the answer, which it does without awaiting:
        # else its tokens would be neither reserved nor spent for a moment.
        loop = asyncio.get_running_loop()
        loop.call_soon(shared_budget.release_call.remote, run, number)


@dataclass
class RemoteBudget(Budget):
    """The budget of one run, which forwards each answer to the actor `shared_budget`."""

    shared_budget: Any = None
    run: str = ""

    def add_call(self, tool: str, call: ToolUsage, seconds: float) -> None:
        super().add_call(tool, call, seconds)
        self.shared_budget.record_call.remote(self.run, tool, call, seconds)
