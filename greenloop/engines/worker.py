"""What a node does for a batch: many runs at once, over one warm sandbox. Ray makes an actor of it."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from greenloop.batch.engine import RunsHere, runs_here
from greenloop.engines.paying import PurseLedger, PurseLimits
from greenloop.errors import GreenloopError, InputError
from greenloop.records import Report
from greenloop.settings import Settings
from greenloop.way.opening import Parts
from greenloop.way.reporting import own_version
from greenloop.way.request import RunRequest
from greenloop.way.run_dir import RunDirectory

_LOCK_S, _LOOK_S = 120.0, 0.2  # a file server frees a dead node's locks after about 90 s
_ENDING_S = 2.0


@dataclass(frozen=True)
class Errand:
    """What a worker is told at its start.

    The settings hold the model's key: they travel as an argument of one call, in memory, and
    never in the description of an actor, which Ray keeps.
    """

    settings: Settings
    purse: Any
    at_once: int
    mark: Path
    version: str


@dataclass(frozen=True)
class Ended:
    """How a run ended: with a report, or with an error that may hold one."""

    report: Report | None = None
    error: GreenloopError | None = None


class Worker:
    """Its methods are called from another process. `open` comes first."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._errand: Errand | None = None
        self._runs: RunsHere | None = None
        self._under_way = 0

    async def open(self, errand: Errand) -> GreenloopError | None:
        """Makes the node ready; why that cannot be."""
        if own_version() != errand.version:
            return InputError(f"greenloop is {own_version()} there, and {errand.version} here")
        if not errand.mark.exists():
            return InputError(
                f"{errand.mark.parent} is not to be seen there: --run-dir has to name a folder that "
                "all nodes share, or a bucket"
            )
        self._errand = errand
        try:
            self._runs = await asyncio.to_thread(self._opened, errand)
        except GreenloopError as error:
            return error
        return None

    def _opened(self, errand: Errand) -> RunsHere:
        return runs_here(errand.settings, Parts(), errand.at_once, self._stack)

    async def run(self, name: str, request: RunRequest, path: Path) -> Ended:
        """One run, known to the purse as `name`; it goes on where its folder holds one already."""
        assert self._errand is not None
        assert self._runs is not None
        purse = self._errand.purse
        parts = replace(
            self._runs.shared,
            limits=PurseLimits(purse, name),
            total=PurseLedger(purse=purse, run=name),
        )
        directory = RunDirectory(path)
        self._under_way += 1
        try:
            await _left_by_others(directory)
            report = await replace(self._runs, shared=parts).run(request, directory)
        except GreenloopError as error:
            return Ended(error.report, error)
        finally:
            await purse.settled.remote()
            self._under_way -= 1
        return Ended(report)

    async def close(self) -> None:
        """Waits a moment for runs that were cancelled, and ends the sandbox."""
        for _ in range(int(_ENDING_S / _LOOK_S)):
            if self._under_way:
                await asyncio.sleep(_LOOK_S)
        await asyncio.to_thread(self._stack.close)


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
