"""Evaluation: tasks run as a batch, with the hidden tests of each finished task."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from greenloop.batch.executor import BatchConfig
from greenloop.batch.runner import Batch
from greenloop.dependencies import PackageResolver
from greenloop.errors import GreenloopError, InputError
from greenloop.evals.hidden_tests import (
    HiddenTestsOutcome,
    TaskSandboxFactory,
    adapt_settings_to_format,
    default_concurrency,
    for_each_task,
    run_hidden_tests,
)
from greenloop.evals.results import HiddenTestResults
from greenloop.evals.task import EvalTask
from greenloop.evals.task_store import check_collectable
from greenloop.events import EntryEnded, Event, HiddenTestsFinished, Notice
from greenloop.records import Report, ToolUsage
from greenloop.records.batch import BatchOutcome, EvalUsage, TaskResult
from greenloop.reporting.loader import read_report
from greenloop.sandbox import open_sandbox


@dataclass
class Evaluation:
    """One evaluation: a check of the hidden tests, then the batch and the hidden tests' runs."""

    folder: Path
    tasks: Mapping[str, EvalTask]  # by id
    results: HiddenTestResults
    config: BatchConfig  # of the batch
    format: str  # of the tasks
    is_stopping: bool = field(default=False, init=False)
    batch: Batch | None = field(default=None, init=False)
    _outcomes: asyncio.Queue[BatchOutcome | None] = field(default_factory=asyncio.Queue, init=False)

    def stop(self) -> None:
        self.is_stopping = True
        if self.batch is not None:
            self.batch.stop()

    async def run(self) -> None:
        """Run the batch and the hidden tests to their ends; see `Batch.fatal_error`.

        Raises:
            InputError: the hidden tests of a task cannot be collected.
            OutputError: results cannot be written.
            SandboxError, ModelFailure: nothing could be started, or nothing can run any more.
        """
        settings = self.config.settings
        with open_sandbox(adapt_settings_to_format(settings, self.format)) as sandbox:
            factory = TaskSandboxFactory(sandbox, PackageResolver(settings.allow_list))
            await self._check_tasks(factory)
            config = replace(self.config, emit=self._handle_event)
            entries = tuple(task.to_entry() for task in self.tasks.values())
            self.batch = Batch(entries, config, self.folder)
            if self.is_stopping:
                self.batch.stop()
            await self._run_batch(self.batch, factory)

    async def _check_tasks(self, factory: TaskSandboxFactory) -> None:
        text = f"tasks: {len(self.tasks)}; checking that pytest can collect the hidden tests"
        self.config.emit(Notice(text))
        await for_each_task(
            self.tasks.values(),
            lambda task: check_collectable(task, factory, lambda: self.is_stopping),
        )

    def _handle_event(self, event: Event) -> None:
        """Forward an event of the batch; queue finished tasks for their hidden tests."""
        self.config.emit(event)
        if isinstance(event, EntryEnded):
            self._outcomes.put_nowait(event.outcome)

    async def _run_batch(self, batch: Batch, factory: TaskSandboxFactory) -> None:
        workers = [
            asyncio.ensure_future(self._run_worker(batch, factory))
            for _ in range(default_concurrency())
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

    async def _run_worker(self, batch: Batch, factory: TaskSandboxFactory) -> None:
        while (outcome := await self._outcomes.get()) is not None:
            try:
                await self._evaluate_outcome(outcome, factory)
            except GreenloopError:
                batch.stop()  # do not pay for code that cannot be checked
                raise

    async def _evaluate_outcome(self, outcome: BatchOutcome, factory: TaskSandboxFactory) -> None:
        task = self.tasks[outcome.id]
        known = self.results.find_result(task)
        if outcome.kind == "done before" and known and known.truth in ("passed", "failed"):
            self.config.emit(HiddenTestsFinished(known, from_earlier_call=True))
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
            found = await run_hidden_tests(task, report.final_code, factory, packages)
        result = _build_result(outcome, task, report, found)
        self.results.append(result)
        self.config.emit(HiddenTestsFinished(result))


async def _wait_for_all(workers: Sequence[asyncio.Future[None]]) -> None:
    """Wait for all workers, then raise the first error of one."""
    for item in await asyncio.gather(*workers, return_exceptions=True):
        if isinstance(item, Exception):
            raise item


def _build_result(
    outcome: BatchOutcome, task: EvalTask, report: Report | None, found: HiddenTestsOutcome | None
) -> TaskResult:
    hidden = found or HiddenTestsOutcome(None, outcome.reason)
    known = ToolUsage(calls=outcome.calls, input_tokens=outcome.tokens, cost_usd=outcome.cost_usd)
    usage = report.usage.model_dump(exclude={"by_tool"}) if report else known.model_dump()
    repairs = report.repairs if report else 0
    spent = EvalUsage(**usage, repairs=repairs, seconds=outcome.seconds)
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
