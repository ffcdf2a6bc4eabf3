"""A batch: entries side by side, none of which touches another; the same call again goes on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.batch.entries import Entry
from greenloop.batch.executor import Engine, LocalEngine, Runs, Terms
from greenloop.batch.outputs import check_place, handed_over, refused, unchanged, written_files
from greenloop.batch.results import RESULTS, Results, add_up, has_room
from greenloop.errors import (
    BudgetExhaustedError,
    GreenloopError,
    ModelRefusedError,
    ModelUnavailableError,
    NoModelError,
    OutputError,
    PackagesError,
    SandboxError,
    StoreError,
)
from greenloop.events import BatchStarted, Emit, EntryAtWork, EntryEnded, EntryStarted, ignore
from greenloop.records import BatchOutcome, BatchTotals, Report
from greenloop.settings import Settings
from greenloop.workflow.delivery import reached
from greenloop.workflow.report_builder import own_version
from greenloop.workflow.storage.request import RunRequest, kept_options
from greenloop.workflow.storage.run_dir import RunDirectory

_FOR_ALL = (NoModelError, ModelRefusedError, BudgetExhaustedError, SandboxError, StoreError)
_DOWN = 5  # runs in a row that could not reach their model: it is not the runs' fault


@dataclass
class Batch:
    """One call of a batch. `folder` keeps its results and its runs; `force` writes over what
    somebody changed by hand."""

    entries: tuple[Entry, ...]
    settings: Settings
    folder: Path
    jobs: int = 4
    requests: int | None = None
    tokens: int | None = None
    force: bool = False
    emit: Emit = ignore
    engine: Engine = field(default_factory=LocalEngine)
    stopping: bool = field(default=False, init=False)
    fatal: GreenloopError | None = field(default=None, init=False)
    totals: BatchTotals = field(init=False)
    _down: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        count = len(self.entries)
        self.totals = BatchTotals(specifications=count, not_run=count)

    def stop(self) -> None:
        """Begins nothing new; what is under way comes to its end."""
        self.stopping = True

    async def run(self) -> BatchTotals:
        """The totals. An error that would meet every entry ends the batch, and is in `fatal`.

        Raises:
            OutputError: the results cannot be written.
            SandboxError, ModelFailure: nothing could be begun.
        """
        started = time.monotonic()
        self.emit(BatchStarted(len(self.entries), str(self.folder)))
        results = Results(self.folder / RESULTS)
        waiting = iter(self._waiting(results))
        try:
            async with AsyncExitStack() as stack:
                first = next(waiting, None)
                if first is not None:
                    terms = Terms(self.settings, self.jobs, self.requests, self.tokens, self.emit)
                    runs = await stack.enter_async_context(self.engine.opened(terms))
                    queue = _chained(first, waiting)
                    work = (self._work(queue, results, runs) for _ in range(self.jobs))
                    await asyncio.gather(*work)
                    self._spent(cost_usd=await runs.cost())
        finally:  # also where it is ended at once: its totals are told
            seconds = round(time.monotonic() - started, 3)
            self._spent(seconds=seconds, ended=self._ended())
        return self.totals

    def _spent(self, **what: float | str | None) -> None:
        self.totals = self.totals.model_copy(update=what)

    def _waiting(self, results: Results) -> Iterator[Entry]:
        """The entries that there is something to do for; the others are entered at once."""
        for entry in self.entries:
            known = self._refused(entry) or unchanged(entry, self.settings)
            known = known or _done(results, entry)
            if known is None:
                yield entry
            else:
                self._enter(known)

    def _refused(self, entry: Entry) -> BatchOutcome | None:
        if self.force:
            return None
        return refused(entry, self._request(entry), self._directory(entry))

    def _directory(self, entry: Entry) -> RunDirectory:
        return RunDirectory(self.folder / "runs" / entry.slug)

    async def _work(self, queue: Iterator[Entry], results: Results, runs: Runs) -> None:
        for entry in queue:
            if self.stopping or self.fatal:
                return
            self.emit(EntryStarted(entry.id))
            outcome = await self._one(entry, runs)
            results.append(outcome)
            self._enter(outcome)

    def _enter(self, outcome: BatchOutcome) -> None:
        self.totals = add_up(self.totals, outcome)
        self.emit(EntryEnded(outcome, self.totals))

    async def _one(self, entry: Entry, runs: Runs) -> BatchOutcome:
        """One entry's run, whatever becomes of it."""
        started = time.monotonic()
        directory = self._directory(entry)
        broken: BaseException | None = None
        report: Report | None = None
        try:
            report = await self._report(entry, runs, directory)
            self._down = 0
        except GreenloopError as error:
            report, broken = error.report, error
            self._judge(error)
        except Exception as error:  # noqa: BLE001
            broken = error  # a mistake of ours ends this entry, and no other
        seconds = round(time.monotonic() - started, 3)
        return self._outcome(entry, report, broken, directory, seconds)

    async def _report(self, entry: Entry, runs: Runs, directory: RunDirectory) -> Report:
        request = self._request(entry)
        check_place(request)
        report = await runs.run(request, directory, self._within(entry))
        if entry.output is None or not reached(report, self.settings.require):
            return report
        return handed_over(report, entry, request, directory, force=self.force)

    def _within(self, entry: Entry) -> Emit:
        return lambda event: self.emit(EntryAtWork(entry.id, event))

    def _request(self, entry: Entry) -> RunRequest:
        return RunRequest(
            specification=entry.text,
            module=entry.output.stem if entry.output else entry.module,
            given=entry.given,
            output=str(entry.output.absolute()) if entry.output else None,
            options=kept_options(self.settings),
            greenloop=own_version(),
        )

    def _judge(self, error: GreenloopError) -> None:
        """Whether an error would meet every other entry too."""
        meets_all = isinstance(error, _FOR_ALL) and not isinstance(error, PackagesError)
        if isinstance(error, ModelUnavailableError):
            self._down += 1
            meets_all = self._down >= _DOWN
        elif isinstance(error, OutputError):
            meets_all = not has_room(self.folder)
        if meets_all:
            self.fatal = error

    def _outcome(
        self,
        entry: Entry,
        report: Report | None,
        broken: BaseException | None,
        directory: RunDirectory,
        seconds: float,
    ) -> BatchOutcome:
        good = broken is None and report is not None and reached(report, self.settings.require)
        status = 0 if good else broken.exit_status if isinstance(broken, GreenloopError) else 1
        reasons = report.reasons if report else ()
        places = report.artifacts if report else None
        return BatchOutcome(
            id=entry.id,
            sha256=entry.sha256,
            kind="broken off" if broken else "reached" if good else "missed",
            exit_status=status,
            verdict=report.verdict if report else None,
            reason=str(broken or next(iter(reasons), "")).partition("\n")[0][:500],
            run_dir=str(directory.path),
            output=places.output if places else None,
            tests_output=places.tests_output if places else None,
            written=written_files(entry, places) if good else (),
            tests=len(report.tests) if report else 0,
            calls=report.usage.calls if report else 0,
            tokens=report.usage.input_tokens + report.usage.output_tokens if report else 0,
            cost_usd=report.usage.cost_usd if report else None,
            seconds=seconds,
        )

    def _ended(self) -> str:
        if self.fatal is not None:
            return f"broken off: {str(self.fatal).partition(chr(10))[0]}"
        return "stopped" if self.stopping and self.totals.not_run else "finished"


def _done(results: Results, entry: Entry) -> BatchOutcome | None:
    """It ended in an earlier call of this batch; what it wrote is still there."""
    found = results.earlier(entry.id, entry.sha256)
    if found is None or (found.exit_status == 0 and entry.output is not None):
        return None  # what was written is known by its lock; without one it is delivered again
    return found.model_copy(update={"kind": "done before"})


def _chained(first: Entry, rest: Iterator[Entry]) -> Iterator[Entry]:
    yield first
    yield from rest
