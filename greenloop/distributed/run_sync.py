"""Synchronisation of runs and results with the object store of a distributed batch."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.batch.results import RESULTS_FILE
from greenloop.distributed.object_store import (
    ObjectStore,
    PendingUploads,
    retry_in_thread,
    upload_pending,
)
from greenloop.errors import StoreError
from greenloop.events import CallFinished, Event, EventSink, Notice
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


_SYNC_INTERVAL_SECONDS = 5.0
_PAUSE_FACTOR = 10  # at most a tenth of the time is spent on uploads of a growing file


@dataclass
class ResultsSynchronizer:
    """Uploads the results of the batch in `folder`, in the background."""

    object_store: ObjectStore
    folder: Path
    emit: EventSink
    interval_seconds: float = _SYNC_INTERVAL_SECONDS
    _uploaded_size: int = field(default=-1, init=False)
    _has_failed: bool = field(default=False, init=False)

    @asynccontextmanager
    async def sync_in_background(self) -> AsyncIterator[None]:
        """Upload results periodically and at the end, and pending files of runs before and after.

        Raises StoreError: the upload failed; a notice if the block itself raises another error.
        """
        await retry_in_thread(
            self.object_store.retry_seconds, upload_pending, self.object_store, self.folder
        )
        task = asyncio.ensure_future(self._run_sync_loop())
        try:
            yield
        except BaseException as error:
            await _cancel_and_wait(task)
            await self._upload_after_error(isinstance(error, Exception))
            raise
        await _cancel_and_wait(task)
        try:
            await retry_in_thread(self.object_store.retry_seconds, self._upload_all)
        except StoreError as error:
            raise StoreError(f"{error}; the results are in {self.folder / RESULTS_FILE}") from error

    async def _run_sync_loop(self) -> None:
        pause = self.interval_seconds
        while True:
            await asyncio.sleep(pause)
            began = time.monotonic()
            try:
                await asyncio.to_thread(self._upload_if_grown)
            except StoreError as error:
                if not self._has_failed:
                    self.emit(Notice(f"{error}: retrying"))
                self._has_failed = True
            else:
                self._has_failed = False
            pause = max(self.interval_seconds, _PAUSE_FACTOR * (time.monotonic() - began))

    def _upload_if_grown(self) -> None:
        """Upload the results if the file has grown: results are only appended."""
        results = self.folder / RESULTS_FILE
        size = results.stat().st_size if results.exists() else 0
        if size != self._uploaded_size:
            self.object_store.put("", self.folder, RESULTS_FILE)
            self._uploaded_size = size

    def _upload_all(self) -> None:
        self.object_store.put("", self.folder, RESULTS_FILE)
        upload_pending(self.object_store, self.folder)

    async def _upload_after_error(self, is_retried: bool) -> None:
        try:
            await retry_in_thread(
                self.object_store.retry_seconds if is_retried else 0.0, self._upload_all
            )
        except StoreError as error:
            self.emit(Notice(f"{error}: run the same command again to store the results"))


async def _cancel_and_wait(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
