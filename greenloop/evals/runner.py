"""Evaluation: tasks run as a batch, with the hidden tests of each finished task."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.batch.runner import Batch
from greenloop.errors import GreenloopError, InputError
from greenloop.evals.hidden_tests import (
    HiddenTestsOutcome,
    TaskSandboxFactory,
    default_concurrency,
    run_hidden_tests,
)
from greenloop.evals.results import HiddenTestResults
from greenloop.evals.task import EvalTask
from greenloop.evals.task_store import TaskStore
from greenloop.events import EntryEnded, Event, EventSink, HiddenTestsFinished
from greenloop.records import BatchOutcome, Report
from greenloop.records.evaluation import EvalUsage, TaskResult
from greenloop.reporting.loader import read_report


@dataclass
class Evaluation:
    """One call of an evaluation; the batch emits to `handle_event`."""

    store: TaskStore
    results: HiddenTestResults
    sandbox_factory: TaskSandboxFactory
    emit: EventSink
    _outcomes: asyncio.Queue[BatchOutcome | None] = field(default_factory=asyncio.Queue, init=False)

    def handle_event(self, event: Event) -> None:
        """Forward an event of the batch; queue finished tasks for their hidden tests."""
        self.emit(event)
        if isinstance(event, EntryEnded):
            self._outcomes.put_nowait(event.outcome)

    async def run(self, batch: Batch) -> None:
        """Run the batch and the hidden tests to their ends; see `Batch.fatal_error`.

        Raises:
            OutputError: results cannot be written.
            SandboxError, ModelFailure: nothing could be started, or nothing can run any more.
        """
        workers = [
            asyncio.ensure_future(self._run_worker(batch)) for _ in range(default_concurrency())
        ]
        try:
            await batch.run()
        except asyncio.CancelledError:
            for worker in workers:
                worker.cancel()
            raise
        finally:
            for _ in workers:
                self._outcomes.put_nowait(None)
            await _wait_for_all(workers)

    async def _run_worker(self, batch: Batch) -> None:
        while (outcome := await self._outcomes.get()) is not None:
            try:
                await self._evaluate_outcome(outcome)
            except GreenloopError:
                batch.stop()  # do not pay for code that cannot be checked
                raise

    async def _evaluate_outcome(self, outcome: BatchOutcome) -> None:
        task = self.store.read_task(outcome.id)
        known = self.results.find_result(outcome.id, outcome.sha256, task.tests_sha256)
        if outcome.kind == "done before" and known and known.truth in ("passed", "failed"):
            self.emit(HiddenTestsFinished(known, from_earlier_call=True))
            return
        report: Report | None = None
        found: HiddenTestsOutcome | None = None
        try:
            report = read_report(Path(outcome.run_dir, "report.json"))
        except InputError as error:
            found = HiddenTestsOutcome("unknown", str(error))
        if outcome.kind == "broken off":
            found = None
        elif report is not None:
            packages = tuple(report.contract.packages) if report.contract else ()
            found = await run_hidden_tests(task, report.final_code, self.sandbox_factory, packages)
        result = _build_result(outcome, task, report, found)
        self.results.append(result)
        self.emit(HiddenTestsFinished(result))


async def _wait_for_all(workers: Sequence[asyncio.Future[None]]) -> None:
    """Wait for all workers, then raise the first error."""
    for item in await asyncio.gather(*workers, return_exceptions=True):
        if isinstance(item, GreenloopError):
            raise item


def _build_result(
    outcome: BatchOutcome, task: EvalTask, report: Report | None, found: HiddenTestsOutcome | None
) -> TaskResult:
    hidden = found or HiddenTestsOutcome(None, outcome.reason)
    usage = report.usage if report else None
    spent = EvalUsage(
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
        truth=hidden.truth,
        why=hidden.reason,
        exit_status=outcome.exit_status,
        hidden_passed=hidden.passed,
        hidden_failed=hidden.failed,
        isolated=hidden.isolated,
        spent=spent,
        run_dir=outcome.run_dir,
    )
