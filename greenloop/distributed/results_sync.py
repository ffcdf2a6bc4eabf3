"""`results.jsonl` in the bucket as results come. An object cannot be appended to: it is put there
whole, now and then."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.batch.results import RESULTS
from greenloop.distributed.object_store import Bucket
from greenloop.distributed.patience import patiently
from greenloop.distributed.pending_uploads import send_left
from greenloop.errors import StoreError
from greenloop.events import Emit, Notice

_EVERY_S = 5.0
_SHARE = 10  # of the time may at most be spent on it: the file grows


@dataclass
class Mirror:
    """Of the batch in `folder`. Nobody waits for it before the end."""

    bucket: Bucket
    folder: Path
    emit: Emit
    every_s: float = _EVERY_S
    _size: int = field(default=-1, init=False)
    _refused: bool = field(default=False, init=False)

    @asynccontextmanager
    async def following(self) -> AsyncIterator[None]:
        """Puts results there as they come, and all of them in the end; before and after that what
        runs have left.

        Raises:
            StoreError: the bucket does not take them; told alone where something else went wrong.
        """
        await patiently(self.bucket.patience_s, send_left, self.bucket, self.folder)
        task = asyncio.ensure_future(self._follow())
        try:
            yield
        except BaseException as error:
            await _ended(task)
            await self._in_the_end(isinstance(error, Exception))
            raise
        await _ended(task)
        try:
            await patiently(self.bucket.patience_s, self._put_all)
        except StoreError as error:
            raise StoreError(f"{error}; the results are in {self.folder / RESULTS}") from error

    async def _follow(self) -> None:
        pause = self.every_s
        while True:
            await asyncio.sleep(pause)
            began = time.monotonic()
            try:
                await asyncio.to_thread(self._put_new)
            except StoreError as error:
                self._say_once(error)
            else:
                self._refused = False
            pause = max(self.every_s, _SHARE * (time.monotonic() - began))

    def _say_once(self, error: StoreError) -> None:
        if not self._refused:
            self.emit(Notice(f"{error}: it is tried again"))
        self._refused = True

    def _put_new(self) -> None:
        """Results are only ever appended."""
        results = self.folder / RESULTS
        size = results.stat().st_size if results.exists() else 0
        if size != self._size:
            self.bucket.put("", self.folder, RESULTS)
            self._size = size

    def _put_all(self) -> None:
        self.bucket.put("", self.folder, RESULTS)
        send_left(self.bucket, self.folder)

    async def _in_the_end(self, with_patience: bool) -> None:
        try:
            await patiently(self.bucket.patience_s if with_patience else 0.0, self._put_all)
        except StoreError as error:
            self.emit(Notice(f"{error}: the same command puts the results there"))


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
