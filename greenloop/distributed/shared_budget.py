"""The budgets and the rates of a batch, wherever its runs go on: one actor holds them for all."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from greenloop.errors import GreenloopError
from greenloop.llm.budget import Ledger
from greenloop.llm.rate_limits import Call, CallLimits
from greenloop.llm.response_log import TokenCount


@dataclass(frozen=True)
class Rations:
    """What all runs may use up together, None where there is no limit: tokens and US dollars in
    all, requests and tokens a minute."""

    max_tokens: int | None = None
    max_cost: float | None = None
    requests: int | None = None
    tokens: int | None = None


@dataclass
class _Account:
    """Of one run: what it has spent, and the calls that it has out."""

    spent: Ledger
    out: dict[int, AsyncExitStack] = field(default_factory=dict)


class Purse:
    """Asked before each call, told of each answer. Its methods are called from other processes.

    A run is known by a name that each try of it has of its own: what a lost try had spent is taken
    back, for the next try enters the answers that were kept once more.
    """

    def __init__(self, rations: Rations) -> None:
        self._total = Ledger(max_tokens=rations.max_tokens, max_cost=rations.max_cost)
        self._limits = CallLimits(None, rations.requests, rations.tokens)
        self._accounts: dict[str, _Account] = {}
        self._numbers = itertools.count(1)

    async def begin(self, run: str) -> None:
        """Opens the account of a run."""
        self._accounts[run] = _Account(Ledger(total=self._total))

    async def enter(self, run: str, call: Call) -> int | GreenloopError:
        """A number for the call as soon as it may go out, or why it never may."""
        account = self._accounts.get(run)
        if account is None:
            return GreenloopError(f"the run {run} was given up")  # its node was taken for dead
        number = next(self._numbers)
        account.out[number] = held = AsyncExitStack()
        try:
            held.enter_context(account.spent.reserved(call.tool, call.characters, call.model))
            await held.enter_async_context(self._limits.call(call))
        except GreenloopError as error:
            await self.leave(run, number)
            return error
        return number

    async def leave(self, run: str, number: int) -> None:
        """The call is not out any more."""
        account = self._accounts.get(run)
        held = account.out.pop(number, None) if account else None
        if held is not None:
            await held.aclose()

    async def add(self, run: str, tool: str, model: str, usage: TokenCount, seconds: float) -> None:
        """Enters one answered call."""
        if run in self._accounts:
            self._accounts[run].spent.add(tool, model, usage, seconds)

    async def settled(self) -> None:
        """Answered once everything is entered that the same caller had told before."""

    async def end(self, run: str, *, lost: bool = False) -> None:
        """Closes the account of a run; of a lost one nothing stays entered."""
        account = self._accounts.get(run)
        if account is None:
            return
        for number in list(account.out):
            await self.leave(run, number)
        if lost:
            self._total.take_back(account.spent)
        del self._accounts[run]

    async def cost(self) -> float | None:
        """US dollars of all runs; None where a price is not known."""
        return self._total.cost

    async def tokens(self) -> int:
        """Of all runs."""
        return self._total.tokens


@dataclass(frozen=True)
class PurseLimits:
    """Asks the purse, an actor's handle, before each call of one run."""

    purse: Any
    run: str

    @asynccontextmanager
    async def call(self, call: Call) -> AsyncIterator[None]:
        try:
            number = await self.purse.enter.remote(self.run, call)
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
            loop.call_soon(self.purse.leave.remote, self.run, number)


@dataclass
class PurseLedger(Ledger):
    """A run's share in the total: tells the purse of each answer, and keeps no budget itself."""

    purse: Any = None
    run: str = ""

    def add(self, tool: str, model: str, usage: TokenCount, seconds: float) -> None:
        super().add(tool, model, usage, seconds)
        self.purse.add.remote(self.run, tool, model, usage, seconds)
