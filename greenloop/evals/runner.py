"""An evaluation: its tasks as a batch, and beside it the hidden tests of what has ended."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.batch.runner import Batch
from greenloop.errors import GreenloopError, InputError
from greenloop.evals.hidden_tests import Found, Provisions, truth_of
from greenloop.evals.results import TruthResults
from greenloop.evals.task import Task
from greenloop.evals.task_store import TaskStore
from greenloop.events import Emit, EntryEnded, Event, HiddenTestsRun
from greenloop.records import BatchOutcome, Report
from greenloop.records.evaluation import Spent, TaskResult
from greenloop.reporting.loader import read_report


def at_once() -> int:
    """How many sandbox runs go on side by side."""
    return max(2, os.cpu_count() or 1)


@dataclass
class Evaluation:
    """One call of an evaluation. `batch` is to emit to `heard`."""

    store: TaskStore
    results: TruthResults
    provisions: Provisions
    emit: Emit
    _ended: asyncio.Queue[BatchOutcome | None] = field(default_factory=asyncio.Queue, init=False)

    def heard(self, event: Event) -> None:
        """Passes events of the batch on; what has ended is held against its hidden tests."""
        self.emit(event)
        if isinstance(event, EntryEnded):
            self._ended.put_nowait(event.outcome)

    async def run(self, batch: Batch) -> None:
        """Both to their ends. What the batch could not go on for is in its `fatal`.

        Raises:
            OutputError: results cannot be written.
            SandboxError, ModelFailure: nothing could be begun, or nothing can be run any more.
        """
        workers = [asyncio.ensure_future(self._work(batch)) for _ in range(at_once())]
        try:
            await batch.run()
        except asyncio.CancelledError:
            for worker in workers:
                worker.cancel()
            raise
        finally:
            for _ in workers:
                self._ended.put_nowait(None)
            await _all(workers)

    async def _work(self, batch: Batch) -> None:
        while (outcome := await self._ended.get()) is not None:
            try:
                await self._one(outcome)
            except GreenloopError:
                batch.stop()  # what cannot be judged need not be paid for
                raise

    async def _one(self, outcome: BatchOutcome) -> None:
        task = self.store.task(outcome.id)
        known = self.results.earlier(outcome.id, outcome.sha256, task.tests_sha256)
        if outcome.kind == "done before" and known and known.truth in ("passed", "failed"):
            self.emit(HiddenTestsRun(known, before=True))
            return
        report, why = _report(Path(outcome.run_dir))
        found: Found | None = None
        if outcome.kind != "broken off":
            found = await self._truth(task, report, why)
        result = _result(outcome, task, report, found)
        self.results.append(result)
        self.emit(HiddenTestsRun(result))

    async def _truth(self, task: Task, report: Report | None, why: str) -> Found:
        if report is None:
            return Found("unknown", why)
        agreed = report.contract.packages if report.contract else ()
        return await truth_of(task, report.final_code, self.provisions, tuple(agreed))


async def _all(workers: Sequence[asyncio.Future[None]]) -> None:
    """Waits for all, also where one has failed; its error is raised then."""
    for item in await asyncio.gather(*workers, return_exceptions=True):
        if isinstance(item, GreenloopError):
            raise item


def _report(run_dir: Path) -> tuple[Report | None, str]:
    try:
        return read_report(run_dir / "report.json"), ""
    except InputError as error:
        return None, str(error)


def _result(
    outcome: BatchOutcome, task: Task, report: Report | None, found: Found | None
) -> TaskResult:
    usage = report.usage if report else None
    spent = Spent(
        calls=usage.calls if usage else outcome.calls,
        input_tokens=usage.input_tokens if usage else outcome.tokens,
        output_tokens=usage.output_tokens if usage else 0,
        cost_usd=usage.cost_usd if usage else outcome.cost_usd,
        repairs=report.iterations if report else 0,
        seconds=outcome.seconds,
    )
    return TaskResult(
        id=outcome.id,
        sha256=outcome.sha256,
        tests_sha256=task.tests_sha256,
        verdict=outcome.verdict if found else None,
        truth=found.truth if found else None,
        why=found.why if found else outcome.reason,
        form=found.form if found else None,
        exit_status=outcome.exit_status,
        hidden_passed=found.passed if found else 0,
        hidden_failed=found.failed if found else 0,
        spent=spent,
        run_dir=outcome.run_dir,
    )
