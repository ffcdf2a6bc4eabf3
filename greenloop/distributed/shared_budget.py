"""The budgets and the rates of a batch, wherever its runs go on: one actor holds them for all."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from greenloop.errors import GreenloopError
from greenloop.llm.budget import Budget
from greenloop.llm.rate_limits import LLMCall, LocalRateLimits
from greenloop.llm.response_log import TokenCount


@dataclass(frozen=True)
class BudgetLimits:
    """What all runs may use up together, None where there is no limit: tokens and US dollars in
    all, requests and tokens a minute."""

    max_tokens: int | None = None
    max_cost: float | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@dataclass
class _Account:
    """Of one run: what it has spent, and the calls that it has out."""

    spent: Budget
    open_calls: dict[int, AsyncExitStack] = field(default_factory=dict)


class SharedBudget:
    """Asked before each call, told of each answer. Its methods are called from other processes.

    A run is known by a name that each try of it has of its own: what a lost try had spent is taken
    back, for the next try enters the answers that were kept once more.
    """

    def __init__(self, limits: BudgetLimits) -> None:
        self._total = Budget(max_tokens=limits.max_tokens, max_cost=limits.max_cost)
        self._limits = LocalRateLimits(None, limits.requests_per_minute, limits.tokens_per_minute)
        self._accounts: dict[str, _Account] = {}
        self._call_numbers = itertools.count(1)

    async def open_account(self, run: str) -> None:
        """Opens the account of a run."""
        self._accounts[run] = _Account(Budget(parent=self._total))

    async def reserve_call(self, run: str, call: LLMCall) -> int | GreenloopError:
        """A number for the call as soon as it may go out, or why it never may."""
        account = self._accounts.get(run)
        if account is None:
            return GreenloopError(f"the run {run} was given up")  # its node was taken for dead
        number = next(self._call_numbers)
        account.open_calls[number] = held = AsyncExitStack()
        try:
            held.enter_context(account.spent.reserve(call.tool, call.characters, call.model))
            await held.enter_async_context(self._limits.call(call))
        except GreenloopError as error:
            await self.release_call(run, number)
            return error
        return number

    async def release_call(self, run: str, number: int) -> None:
        """The call is not out any more."""
        account = self._accounts.get(run)
        held = account.open_calls.pop(number, None) if account else None
        if held is not None:
            await held.aclose()

    async def record_call(
        self, run: str, tool: str, model: str, usage: TokenCount, seconds: float
    ) -> None:
        """Enters one answered call."""
        if run in self._accounts:
            self._accounts[run].spent.add(tool, model, usage, seconds)

    async def flush(self) -> None:
        """Answered once everything is entered that the same caller had told before."""

    async def close_account(self, run: str, *, is_lost: bool = False) -> None:
        """Closes the account of a run; of a lost one nothing stays entered."""
        account = self._accounts.get(run)
        if account is None:
            return
        for number in list(account.open_calls):
            await self.release_call(run, number)
        if is_lost:
            self._total.subtract(account.spent)
        del self._accounts[run]

    async def cost(self) -> float | None:
        """US dollars of all runs; None where a price is not known."""
        return self._total.cost

    async def tokens(self) -> int:
        """Of all runs."""
        return self._total.tokens


@dataclass(frozen=True)
class RemoteCallLimits:
    """Asks the purse, an actor's handle, before each call of one run."""

    shared_budget: Any
    run: str

    @asynccontextmanager
    async def call(self, call: LLMCall) -> AsyncIterator[None]:
        try:
            number = await self.shared_budget.reserve_call.remote(self.run, call)
        except Exception as error:  # Ray's, which this file does not know by name
            raise GreenloopError("the command of this batch is gone") from error
        if isinstance(number, GreenloopError):
            raise number
        try:
            yield
        finally:
            # Once the answer is entered, which the caller does without a pause: in between, its
            # tokens would be neither reserved nor spent.
            loop = asyncio.get_running_loop()
            loop.call_soon(self.shared_budget.release_call.remote, self.run, number)


@dataclass
class RemoteBudget(Budget):
    """A run's share in the total: tells the purse of each answer, and keeps no budget itself."""

    shared_budget: Any = None
    run: str = ""

    def add(self, tool: str, model: str, usage: TokenCount, seconds: float) -> None:
        super().add(tool, model, usage, seconds)
        self.shared_budget.record_call.remote(self.run, tool, model, usage, seconds)
