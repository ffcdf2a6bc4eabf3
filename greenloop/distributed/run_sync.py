"""A run whose directory lies in a bucket: here while it goes on, there after each answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.distributed.object_store import Bucket
from greenloop.distributed.patience import patiently
from greenloop.distributed.pending_uploads import Left
from greenloop.errors import StoreError
from greenloop.events import CallFinished, Event
from greenloop.llm.rate_limits import Call, Limits
from greenloop.records import Report
from greenloop.sandbox.backends.cleanup import remove
from greenloop.workflow.storage.run_dir import RunDirectory


@dataclass(frozen=True)
class NotKept:
    """Why the bucket does not have all of a run, and what there is of it."""

    error: StoreError
    left: Left


@dataclass
class Keeper:
    """Of one run: its folder `here`, its `name` in the bucket. It listens to the run's events.

    A bucket that was given up once is not waited for again.
    """

    bucket: Bucket
    name: str
    here: Path
    _patience_s: float = field(init=False)
    _putting: asyncio.Task[None] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._patience_s = self.bucket.patience_s

    def __call__(self, event: Event) -> None:
        if isinstance(event, CallFinished) and event.source == "model":
            self._putting = asyncio.ensure_future(self._put_log(self._putting))

    async def kept(self) -> None:
        """Returns once the answers so far are in the bucket. Raises StoreError."""
        if self._putting is not None:
            await asyncio.shield(self._putting)

    async def fetched(self) -> None:
        """What another worker has left. Raises StoreError."""
        await patiently(self._patience_s, self.bucket.fetch, self.name, self.here)

    async def all_kept(self) -> NotKept | None:
        """Nothing is here any more; what of it the bucket did not take, None where it has all."""
        if self._putting is not None:
            await asyncio.wait([self._putting])
        try:
            await patiently(self._patience_s, self.bucket.put, self.name, self.here)
        except StoreError as error:
            return NotKept(error, await asyncio.to_thread(Left.of, self.here))
        finally:
            await asyncio.to_thread(remove, self.here)
        return None

    async def _put_log(self, before: asyncio.Task[None] | None) -> None:
        """One after the other: the longer log comes last."""
        if before is not None:
            await before
        log = RunDirectory(self.here).answers.name
        try:
            await patiently(self._patience_s, self.bucket.put, self.name, self.here, log)
        except StoreError:
            self._patience_s = 0.0
            raise


@dataclass(frozen=True)
class KeptFirst:
    """No call goes out before the answers to those before it are in the bucket."""

    limits: Limits
    keeper: Keeper

    @asynccontextmanager
    async def call(self, call: Call) -> AsyncIterator[None]:
        await self.keeper.kept()
        async with self.limits.call(call):
            yield


def moved(report: Report, old: str, new: str) -> Report:
    """The report with its files where they lie now: below `new` instead of `old`."""
    places = {
        key: new + value.removeprefix(old)
        for key, value in report.artifacts.model_dump().items()
        if isinstance(value, str) and value.startswith(old)
    }
    return report.model_copy(update={"artifacts": report.artifacts.model_copy(update=places)})
