"""The runs of a batch on the nodes of a Ray cluster.

The command's own process keeps the books: which entries wait, results, totals, the files that are
handed over. A worker a node makes the runs, in directories that all nodes see. Where a worker is
lost, its runs are begun again elsewhere, and go on from their logs: what had been answered is not
paid for twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.batch.executor import Runs, Terms
from greenloop.distributed.object_store import Bucket
from greenloop.distributed.patience import patiently
from greenloop.distributed.ray_cluster import connected
from greenloop.distributed.results_sync import Mirror
from greenloop.distributed.run_sync import moved
from greenloop.distributed.shared_budget import Purse, Rations
from greenloop.distributed.worker import Ended, Errand
from greenloop.distributed.worker_pool import Crew, Hand
from greenloop.errors import GreenloopError, InputError, SandboxError
from greenloop.events import Emit, ignore
from greenloop.llm.factory import asks_nobody
from greenloop.llm.model_selection import choose_model
from greenloop.records import Report
from greenloop.settings import Settings
from greenloop.workflow.report_builder import own_version
from greenloop.workflow.storage.request import RunRequest, digest
from greenloop.workflow.storage.run_dir import RunDirectory

_TRIES = 4  # of one run, each on another worker than the one that was lost
_OTHER_S = 10.0  # the purse of a batch that was just killed lives on for a moment
_NAMESPACE = "greenloop"


@dataclass(frozen=True)
class RayEngine:
    """`address` is None for a cluster of this machine's own, for as long as the batch goes on.
    `folder` is the batch's: all nodes share it, or `bucket` is where they keep their runs."""

    address: str | None
    folder: Path
    bucket: Bucket | None = None

    @asynccontextmanager
    async def opened(self, terms: Terms) -> AsyncIterator[Runs]:
        where = self.bucket.url if self.bucket else str(self.folder)
        async with AsyncExitStack() as stack:
            ray = stack.enter_context(connected(self.address, _NAMESPACE))
            mark = stack.enter_context(_marked(self.folder))
            purse = await _purse(ray, terms, f"greenloop-{digest(where)[:16]}")
            seen = None if self.bucket else mark
            settings = _for_workers(terms.settings)
            errand = Errand(settings, purse, 1, own_version(), seen, self.bucket)
            crew = Crew(ray, errand, terms.jobs, terms.emit)
            stack.callback(ray.kill, purse, no_restart=True)
            if self.bucket is not None:
                mirror = Mirror(self.bucket, self.folder, terms.emit)
                await stack.enter_async_context(mirror.following())
            stack.push_async_callback(crew.close)
            await crew.open()
            yield RunsOnRay(ray, crew, purse, self.bucket)


@dataclass(frozen=True)
class RunsOnRay:
    """Runs on the workers of a crew. `ray` is the module, `purse` the actor."""

    ray: Any
    crew: Crew
    purse: Any
    bucket: Bucket | None = None

    async def run(
        self, request: RunRequest, directory: RunDirectory, emit: Emit = ignore
    ) -> Report:
        for number in range(1, _TRIES + 1):
            ended = await self._tried(f"{directory.path.name}-{number}", request, directory)
            if ended is None:
                continue
            ended = await self._at_home(ended, directory)
            if ended.error is not None:
                raise ended.error
            assert ended.report is not None
            return ended.report
        raise GreenloopError(f"its worker was lost {_TRIES} times; the last log is kept")

    async def cost(self) -> float | None:
        cost: float | None = await self.crew.told(self.purse.cost.remote())
        return cost

    async def _at_home(self, ended: Ended, directory: RunDirectory) -> Ended:
        """The run's directory is here too, and its report says so."""
        if self.bucket is None:
            return ended
        name = f"runs/{directory.path.name}"
        if ended.left is not None and ended.error is not None:
            await asyncio.to_thread(ended.left.keep, directory.path)
            ended.error.args = (f"{ended.error}; what it was answered is in {directory.path}",)
        else:
            await patiently(self.bucket.patience_s, self.bucket.fetch, name, directory.path)
        if ended.report is None:
            return ended
        report = moved(ended.report, f"{self.bucket.url}/{name}", str(directory.path))
        directory.save_report(report)
        if ended.error is not None:
            ended.error.report = report
        return Ended(report, ended.error)

    async def _tried(self, name: str, request: RunRequest, directory: RunDirectory) -> Ended | None:
        """How the run ended; None where its worker was lost."""
        hand = await self.crew.take()
        lost = False
        try:
            await self.crew.told(self.purse.begin.remote(name))
            ended = await self._made(hand, name, request, directory)
            lost = ended is None
        finally:
            self.purse.end.remote(name, lost=lost)
            if lost:
                self.crew.lost(hand)
            else:
                self.crew.did(hand)
        return ended

    async def _made(
        self, hand: Hand, name: str, request: RunRequest, directory: RunDirectory
    ) -> Ended | None:
        errors = self.ray.exceptions
        reference = hand.actor.run.remote(name, request, directory.path)
        try:
            ended: Ended = await reference
        except asyncio.CancelledError:
            self.ray.cancel(reference)
            raise
        except (errors.RayTaskError, errors.TaskCancelledError) as error:
            # A mistake of ours, over there: it ends this run, and no other.
            raise RuntimeError(_said(error)) from None
        except errors.RayError:
            return None
        return ended


def _said(error: Exception) -> str:
    """Ray's text is the trace from over there: its last line says what went wrong."""
    cause = getattr(error, "cause", None)
    return repr(cause) if cause is not None else str(error).strip().rpartition("\n")[2]


async def _purse(ray: Any, terms: Terms, name: str) -> Any:
    """The one actor that holds budgets and rates, in this process's node: it is lost with it alone.

    Raises:
        InputError: there is one of that name: the batch is under way.
    """
    settings = terms.settings
    rations = Rations(settings.max_tokens, settings.max_cost, terms.requests, terms.tokens)
    here = ray.get_runtime_context().get_node_id()
    at = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(here, soft=False)
    options = {"name": name, "num_cpus": 0, "max_concurrency": terms.jobs * 4 + 8}
    make = ray.remote(Purse).options(scheduling_strategy=at, **options)
    until = asyncio.get_running_loop().time() + _OTHER_S
    while True:
        try:
            return make.remote(rations)
        except ValueError:
            if asyncio.get_running_loop().time() > until:
                raise InputError(f"another process works on this batch ({name})") from None
        await asyncio.sleep(0.5)


def _for_workers(settings: Settings) -> Settings:
    """The settings as they mean the same on every node: the model chosen, its file found."""
    changed: dict[str, Any] = {"home": settings.home.absolute()}
    if not asks_nobody(settings):
        choice = choose_model(settings)
        kind, _, rest = choice.name.partition(":")
        name = f"replay:{Path(rest).absolute()}" if kind == "replay" else choice.name
        changed |= {"model": name, "openai_base_url": choice.base_url or settings.openai_base_url}
    return settings.model_copy(update=changed)


@contextlib.contextmanager
def _marked(folder: Path) -> Iterator[Path]:
    """A file that a node has to see: then it sees the folder."""
    mark = folder / f".seen-by-all-{secrets.token_hex(8)}"
    try:
        mark.touch()
    except OSError as error:
        raise SandboxError(f"{folder} cannot be written: {error.strerror or error}") from None
    try:
        yield mark
    finally:
        mark.unlink(missing_ok=True)
