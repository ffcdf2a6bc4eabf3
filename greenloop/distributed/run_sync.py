"""Synchronization of a run's directory with the object store, after each answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.distributed.object_store import ObjectStore, PendingUploads, retry_in_thread
from greenloop.errors import StoreError
from greenloop.events import CallFinished, Event
from greenloop.llm.rate_limits import LLMCall, RateLimits
from greenloop.sandbox.backends.cleanup import remove_folder
from greenloop.workflow.storage.run_dir import RunDirectory


@dataclass
class RunSynchronizer:
    """An event sink that stores a run's folder after each answer; a failure ends the retries."""

    object_store: ObjectStore
    name: str  # below which the folder is stored
    folder: Path
    _retry_seconds: float = field(init=False)
    _upload_task: asyncio.Task[None] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._retry_seconds = self.object_store.retry_seconds

    def __call__(self, event: Event) -> None:
        if isinstance(event, CallFinished) and event.source == "model":
            self._upload_task = asyncio.ensure_future(self._upload_log(self._upload_task))

    async def wait_for_upload(self) -> None:
        """Wait until the answers so far are stored. Raises StoreError."""
        if self._upload_task is not None:
            await asyncio.shield(self._upload_task)

    async def fetch(self) -> None:
        """Fetch what another worker has stored. Raises StoreError."""
        await retry_in_thread(self._retry_seconds, self.object_store.fetch, self.name, self.folder)

    async def finish(self) -> tuple[StoreError, PendingUploads] | None:
        """Store all files and remove the folder; return why and what could not be stored, or None."""
        if self._upload_task is not None:
            await asyncio.wait([self._upload_task])
        try:
            await retry_in_thread(
                self._retry_seconds, self.object_store.put, self.name, self.folder
            )
        except StoreError as error:
            return error, await asyncio.to_thread(PendingUploads.from_folder, self.folder)
        finally:
            await asyncio.to_thread(remove_folder, self.folder)
        return None

    async def _upload_log(self, previous: asyncio.Task[None] | None) -> None:
        """Store the log after the previous upload, so that the longest log is stored last."""
        if previous is not None:
            await previous
        log = RunDirectory(self.folder).answers_file.name
        try:
            await retry_in_thread(
                self._retry_seconds, self.object_store.put, self.name, self.folder, log
            )
        except StoreError:
            self._retry_seconds = 0.0
            raise


@asynccontextmanager
async def limit_after_upload(
    limits: RateLimits, synchronizer: RunSynchronizer, call: LLMCall
) -> AsyncIterator[None]:
    """Delay a call until the answers to earlier calls are stored, and by its rate limits."""
    await synchronizer.wait_for_upload()
    async with limits(call):
        yield
