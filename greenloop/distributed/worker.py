"""What a node does for a batch: many runs at once, over one warm sandbox. Ray makes an actor of it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from greenloop.batch.executor import RunsHere, runs_here
from greenloop.batch.results import RESULTS
from greenloop.distributed.object_store import Bucket
from greenloop.distributed.pending_uploads import Left
from greenloop.distributed.run_sync import Keeper, KeptFirst, moved
from greenloop.distributed.shared_budget import PurseLedger, PurseLimits
from greenloop.errors import GreenloopError, InputError, OutputError
from greenloop.events import ignore
from greenloop.llm.rate_limits import Limits
from greenloop.records import Report
from greenloop.sandbox.backends.cleanup import remove, temporary_folder
from greenloop.settings import Settings
from greenloop.workflow.report_builder import own_version
from greenloop.workflow.setup.runtime import Parts
from greenloop.workflow.storage.request import RunRequest
from greenloop.workflow.storage.run_dir import RunDirectory

_LOCK_S, _LOOK_S = 120.0, 0.2  # a file server frees a dead node's locks after about 90 s
_ENDING_S = 2.0


@dataclass(frozen=True)
class Errand:
    """What a worker is told at its start.

    The settings hold the model's key: they travel as an argument of one call, in memory, and
    never in the description of an actor, which Ray keeps. Where there is no `bucket`, `mark` is a
    file that is seen where the batch's folder is.
    """

    settings: Settings
    purse: Any
    at_once: int
    version: str
    mark: Path | None = None
    bucket: Bucket | None = None


@dataclass(frozen=True)
class Ended:
    """How a run ended: with a report, or with an error that may hold one. `left` is what its bucket
    did not take of it."""

    report: Report | None = None
    error: GreenloopError | None = None
    left: Left | None = None


class Worker:
    """Its methods are called from another process. `open` comes first."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._errand: Errand | None = None
        self._runs: RunsHere | None = None
        self._folder = Path()
        self._under_way = 0

    async def open(self, errand: Errand) -> GreenloopError | None:
        """Makes the node ready; why that cannot be."""
        if own_version() != errand.version:
            return InputError(f"greenloop is {own_version()} there, and {errand.version} here")
        if errand.mark is not None and not errand.mark.exists():
            return InputError(
                f"{errand.mark.parent} is not to be seen there: --run-dir has to name a folder that "
                "all nodes share, or a bucket"
            )
        self._errand = errand
        try:
            await asyncio.to_thread(self._open, errand)
        except GreenloopError as error:
            self._stack.close()
            return error
        return None

    def _open(self, errand: Errand) -> None:
        if errand.bucket is not None and errand.bucket.read(RESULTS) is None:
            raise InputError(f"{errand.bucket.url} is another one there: it has no {RESULTS}")
        self._folder = temporary_folder()
        self._stack.callback(remove, self._folder)
        self._runs = runs_here(errand.settings, Parts(), errand.at_once, self._stack)

    async def run(self, name: str, request: RunRequest, path: Path) -> Ended:
        """One run, known to the purse as `name`; it goes on where its folder holds one already."""
        assert self._errand is not None
        bucket = self._errand.bucket
        self._under_way += 1
        try:
            if bucket is None:
                await _left_by_others(RunDirectory(path))
                return await self._made(name, request, RunDirectory(path))
            return await self._kept(bucket, name, request, path.name)
        except GreenloopError as error:
            return Ended(error.report, error)
        finally:
            await self._errand.purse.settled.remote()
            self._under_way -= 1

    async def _kept(self, bucket: Bucket, name: str, request: RunRequest, folder: str) -> Ended:
        """A run whose directory is in the bucket before it begins, and after it."""
        keeper = Keeper(bucket, f"runs/{folder}", self._folder / name / folder)
        await keeper.fetched()
        try:
            ended = await self._made(name, request, RunDirectory(keeper.here), keeper)
            ended = _at_home(ended, keeper)
        finally:
            missing = await keeper.all_kept()
        return ended if missing is None else Ended(ended.report, missing.error, missing.left)

    async def _made(
        self, name: str, request: RunRequest, directory: RunDirectory, keeper: Keeper | None = None
    ) -> Ended:
        assert self._errand is not None
        assert self._runs is not None
        purse = self._errand.purse
        limits: Limits = PurseLimits(purse, name)
        total = PurseLedger(purse=purse, run=name)
        limits = limits if keeper is None else KeptFirst(limits, keeper)
        parts = replace(self._runs.shared, limits=limits, total=total)
        runs = replace(self._runs, shared=parts)
        try:
            return Ended(await runs.run(request, directory, keeper or ignore))
        except GreenloopError as error:
            return Ended(error.report, error)

    async def close(self) -> None:
        """Waits a moment for runs that were cancelled, and ends the sandbox."""
        for _ in range(int(_ENDING_S / _LOOK_S)):
            if self._under_way:
                await asyncio.sleep(_LOOK_S)
        await asyncio.to_thread(self._stack.close)


def _at_home(ended: Ended, keeper: Keeper) -> Ended:
    """The same, with the report's files where the bucket has them."""
    if ended.report is None:
        return ended
    report = moved(ended.report, str(keeper.here), f"{keeper.bucket.url}/{keeper.name}")
    if ended.error is not None:
        ended.error.report = report
    with contextlib.suppress(OutputError):  # its disk is full: then that is what ended the run
        RunDirectory(keeper.here).save_report(report)
    return Ended(report, ended.error)


async def _left_by_others(directory: RunDirectory) -> None:
    """A worker that is lost may live on for a moment, or its lock may.

    Raises:
        InputError: another process works on the run, and goes on doing so.
    """
    until = time.monotonic() + _LOCK_S
    while directory.path.exists():
        try:
            with directory.locked():
                return
        except InputError:
            if time.monotonic() > until:
                raise
        await asyncio.sleep(_LOOK_S)
