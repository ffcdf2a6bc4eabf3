"""How a run on a node keeps to the budgets and rates of the whole batch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from greenloop.errors import GreenloopError
from greenloop.models.answer_log import TokenCount
from greenloop.models.ledger import Ledger
from greenloop.models.limiting import Call


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
