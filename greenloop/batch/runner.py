"""Runner of a batch: independent concurrent entries, continued by the same command."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from greenloop.batch.earlier_runs import EarlierRuns
from greenloop.batch.entries import Entry
from greenloop.batch.executor import BatchConfig, Executor, LocalExecutor, RunExecutor
from greenloop.batch.results import (
    RESULTS_FILE,
    add_outcome,
    append_line,
    check_output_path,
    find_refused_outcome,
    find_unchanged_outcome,
    has_disk_space,
    list_written_files,
)
from greenloop.errors import (
    BudgetExhaustedError,
    GreenloopError,
    ModelRefusedError,
    ModelUnavailableError,
    NoModelError,
    OutputError,
    PackagesError,
    SandboxError,
)
from greenloop.events import (
    BatchStarted,
    EntryEnded,
    EntryProgress,
    EntryStarted,
)
from greenloop.records import Report
from greenloop.records.batch import BatchOutcome, BatchTotals
from greenloop.records.report import meets_requirement
from greenloop.versions import greenloop_version
from greenloop.workflow.kinds import load_request
from greenloop.workflow.make.locked_delivery import deliver_locked
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.storage.request import select_saved_options
from greenloop.workflow.storage.run_dir import RunDirectory

_BATCH_FATAL_ERRORS = (
    NoModelError,
    ModelRefusedError,
    BudgetExhaustedError,
    SandboxError,
)
_MAX_UNREACHABLE_RUNS = 5  # consecutive runs without a reachable model


@dataclass
class Batch:
    """One call of a batch. `folder` has its results and runs; `force` replaces edited files."""

    entries: tuple[Entry, ...]
    config: BatchConfig
    folder: Path
    force: bool = False
    executor: Executor = field(default_factory=LocalExecutor)
    is_stopping: bool = field(default=False, init=False)
    fatal_error: GreenloopError | None = field(default=None, init=False)
    totals: BatchTotals = field(init=False)
    _unreachable_runs: int = field(default=0, init=False)
    _earlier: EarlierRuns = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.entries)
        replays = (self.config.settings.model or "").startswith("replay:")
        self.totals = BatchTotals(specifications=count, not_run=count, is_recorded=replays)

    def stop(self) -> None:
        """Start no further entries; running ones are completed."""
        self.is_stopping = True

    async def run(self) -> BatchTotals:
        """Run the batch and return its totals; an error common to all entries is in `fatal_error`.

        Raises:
            OutputError: the results cannot be written.
            SandboxError, ModelFailure: the executor cannot be opened.
        """
        started = time.monotonic()
        self.config.emit(BatchStarted(len(self.entries), str(self.folder)))
        self._earlier = EarlierRuns.open(self.folder, self.config.settings)
        waiting = iter(self._pending_entries())
        try:
            async with AsyncExitStack() as stack:
                first = next(waiting, None)
                if first is not None:
                    runs = await stack.enter_async_context(self.executor.open(self.config))
                    queue = chain([first], waiting)
                    work = (self._run_worker(queue, runs) for _ in range(self.config.jobs))
                    await asyncio.gather(*work)
                    self._update_totals(cost_usd=await runs.cost())
        finally:  # the totals of a cancelled batch are reported too
            seconds = round(time.monotonic() - started, 3)
            self._update_totals(seconds=seconds, ended=self._describe_ending())
        return self.totals

    def _update_totals(self, **fields: float | str | None) -> None:
        self.totals = self.totals.model_copy(update=fields)

    def _pending_entries(self) -> Iterator[Entry]:
        """Yield the entries that need a run; record the outcomes of the others."""
        for entry in self.entries:
            known = None
            if not self.force:
                request, directory = self._build_request(entry), self._earlier.find_directory(entry)
                known = find_refused_outcome(entry, request, directory)
            known = known or find_unchanged_outcome(entry, self.config.settings)
            known = known or self._earlier.find_outcome(entry)
            if known is None:
                yield entry
            else:
                self._record_outcome(known)

    async def _run_worker(self, queue: Iterator[Entry], executor: RunExecutor) -> None:
        for entry in queue:
            if self.is_stopping or self.fatal_error:
                return
            self.config.emit(EntryStarted(entry.id))
            outcome = await self._run_entry(entry, executor)
            append_line(self.folder / RESULTS_FILE, outcome)
            self._record_outcome(outcome)

    def _record_outcome(self, outcome: BatchOutcome) -> None:
        self.totals = add_outcome(self.totals, outcome)
        self.config.emit(EntryEnded(outcome, self.totals))

    async def _run_entry(self, entry: Entry, executor: RunExecutor) -> BatchOutcome:
        """Run one entry and return its outcome, whether it succeeds or not."""
        started = time.monotonic()
        directory = self._earlier.find_directory(entry)
        failure: BaseException | None = None
        report: Report | None = None
        try:
            report = await self._run_and_deliver(entry, executor, directory)
            self._unreachable_runs = 0
        except GreenloopError as error:
            report, failure = error.report, error
            self._stop_on_shared_error(error)
        except Exception as error:  # noqa: BLE001
            failure = error  # an internal error ends this entry only
        seconds = round(time.monotonic() - started, 3)
        return self._build_outcome(entry, report, failure, directory, seconds)

    async def _run_and_deliver(
        self, entry: Entry, executor: RunExecutor, directory: RunDirectory
    ) -> Report:
        request = self._build_request(entry)
        check_output_path(request)
        _update_options(directory, request)
        report = await executor.run(
            request, directory, lambda event: self.config.emit(EntryProgress(entry.id, event))
        )
        if entry.output is None or not meets_requirement(report, self.config.settings.require):
            return report
        return deliver_locked(report, request, directory, force=self.force)

    def _build_request(self, entry: Entry) -> MakeRequest:
        return MakeRequest(
            specification=entry.text,
            module=entry.output.stem if entry.output else entry.module,
            given=entry.tests,
            source=str(Path(entry.source).absolute()) if Path(entry.source).is_file() else None,
            output=str(entry.output.absolute()) if entry.output else None,
            options=select_saved_options(self.config.settings),
            greenloop=greenloop_version(),
        )

    def _stop_on_shared_error(self, error: GreenloopError) -> None:
        """End the batch if an error would occur for all other entries too."""
        is_shared = isinstance(error, _BATCH_FATAL_ERRORS) and not isinstance(error, PackagesError)
        if isinstance(error, ModelUnavailableError):
            self._unreachable_runs += 1
            is_shared = self._unreachable_runs >= _MAX_UNREACHABLE_RUNS
        elif isinstance(error, OutputError):
            is_shared = not has_disk_space(self.folder)
        if is_shared:
            self.fatal_error = error

    def _build_outcome(
        self,
        entry: Entry,
        report: Report | None,
        error: BaseException | None,
        directory: RunDirectory,
        seconds: float,
    ) -> BatchOutcome:
        require = self.config.settings.require
        success = error is None and report is not None and meets_requirement(report, require)
        status = 0 if success else error.exit_status if isinstance(error, GreenloopError) else 1
        reasons = report.reasons if report else ()
        artifacts = report.artifacts if report else None
        return BatchOutcome(
            id=entry.id,
            sha256=entry.sha256,
            kind="broken off" if error else "reached" if success else "missed",
            exit_status=status,
            verdict=report.verdict if report else None,
            reason=str(error or next(iter(reasons), "")).partition("\n")[0][:500],
            run_dir=str(directory.path),
            output=artifacts.output if artifacts else None,
            tests_output=artifacts.tests_output if artifacts else None,
            written=list_written_files(entry, artifacts) if success else (),
            tests=len(report.tests) if report else 0,
            calls=report.usage.calls if report else 0,
            tokens=report.usage.input_tokens + report.usage.output_tokens if report else 0,
            cost_usd=report.usage.cost_usd if report else None,
            seconds=seconds,
            open_choices=len(report.contract.open_choices) if report and report.contract else 0,
        )

    def _describe_ending(self) -> str:
        if self.fatal_error is not None:
            return f"ended early: {str(self.fatal_error).partition(chr(10))[0]}"
        return "stopped" if self.is_stopping and self.totals.not_run else "finished"


def _update_options(directory: RunDirectory, request: MakeRequest) -> None:
    """Store the options of this call in a run that goes on with them."""
    if directory.request_file.exists():
        stored = load_request(directory)
        directory.save_request(stored.model_copy(update={"options": request.options}))
