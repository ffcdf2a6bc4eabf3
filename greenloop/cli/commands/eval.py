"""`eval`: a model against hidden tests."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from greenloop.batch.runner import Batch
from greenloop.cli.commands.batch import to_its_end
from greenloop.cli.commands.report import write_form
from greenloop.cli.options.common import flags_in
from greenloop.cli.process import complain, early_end, write_out
from greenloop.dependencies import Provider
from greenloop.errors import GreenloopError, InputError, InterruptedRunError
from greenloop.evals.comparison import compared, read_evaluation
from greenloop.evals.datasets.loader import Asked, TaskSource
from greenloop.evals.hidden_tests import Provisions, for_hidden_tests
from greenloop.evals.output_dir import EvalFolder, setup_of
from greenloop.evals.reference_solutions import Tried, try_solutions
from greenloop.evals.results import TruthResults
from greenloop.evals.runner import Evaluation, at_once
from greenloop.evals.summary import summary
from greenloop.evals.task import Task
from greenloop.evals.task_store import TaskStore
from greenloop.evals.task_validation import check_collected
from greenloop.events import Emit, Notice
from greenloop.llm.factory import open_sources
from greenloop.records.evaluation import EvalReport
from greenloop.reporting.escaping import line_of
from greenloop.reporting.evals.markdown import comparison_markdown, eval_markdown
from greenloop.reporting.evals.text import comparison_text, eval_text
from greenloop.reporting.progress.batch import batch_progress
from greenloop.sandbox import open_sandbox
from greenloop.settings import Settings
from greenloop.workflow.storage.run_dir import RunDirectory


@dataclass(frozen=True)
class EvalOptions:
    """What is typed besides the settings."""

    format: Asked = "auto"
    limit: int | None = None
    leave_out: tuple[str, ...] = ()
    run_dir: Path | None = None
    jobs: int = 4
    requests: int | None = None
    tokens: int | None = None
    json: bool = False
    markdown: str | None = None
    quiet: bool = False


def eval_typed(typed: dict[str, Any]) -> int:
    """`greenloop eval` from its parameters: the exit status."""
    tasks, compare = typed["tasks"], typed["compare"]
    options = EvalOptions(
        format=typed["format"],
        limit=typed["limit"],
        leave_out=tuple(typed["leave_out"] or ()),
        run_dir=typed["run_dir"],
        jobs=typed["jobs"],
        requests=typed["requests_per_minute"],
        tokens=typed["tokens_per_minute"],
        json=typed["json"],
        markdown=typed["markdown"],
        quiet=typed["quiet"],
    )
    try:
        if compare is not None:
            if tasks is not None:
                raise InputError("--compare A B takes two evaluations and no tasks")
            return compare_command(*compare, as_json=options.json, markdown=options.markdown)
        if tasks is None:
            raise InputError("name a file of tasks, or a folder of exercises; or --compare A B")
        settings = Settings.load(**flags_in(typed))
        source = TaskSource(tasks, options.format, frozenset(options.leave_out))
        if typed["check_tasks"]:
            return try_command(
                islice(source, options.limit),
                for_hidden_tests(settings, source.format),
                as_json=options.json,
                quiet=options.quiet,
            )
        return _eval(tasks, source, settings, options)
    except GreenloopError as error:
        complain(str(error))
        return error.exit_status
    except KeyboardInterrupt:
        complain("interrupted")
        return InterruptedRunError.exit_status


def _eval(tasks: Path, source: TaskSource, settings: Settings, options: EvalOptions) -> int:
    """Raises GreenloopError where nothing could be begun."""
    open_sources(settings)  # what is wrong with the model is told first
    setup = setup_of(tasks, source.format, settings)
    folder = EvalFolder.made(setup, settings.home, options.run_dir)
    broken_off: GreenloopError | None = None
    with ExitStack() as stack:
        stack.enter_context(RunDirectory(folder.path).locked())
        store = TaskStore(folder.tasks, islice(source, options.limit))
        if not len(store):
            raise InputError(f"{tasks}: there is no task to evaluate")
        results = TruthResults(folder.results)
        show = stack.enter_context(batch_progress(quiet=options.quiet))
        session = _Session(folder, store, results, settings, options, show, source.format)
        try:
            asyncio.run(to_its_end(session, session.run()))
        except asyncio.CancelledError:
            session.stopping = True
        except GreenloopError as error:
            if not session.begun:
                raise
            broken_off = error
        broken_off = broken_off or session.fatal
        known = (results.earlier(e.id, e.sha256, store.tests_sha256(e.id)) for e in store.entries)
        report = summary(setup, len(store), [item for item in known if item is not None])
        folder.save(report)
    return _end(report, session, broken_off, options)


class _Session:
    """One call: the tests are tried, then the batch and the truths go side by side."""

    def __init__(
        self,
        folder: EvalFolder,
        store: TaskStore,
        results: TruthResults,
        settings: Settings,
        options: EvalOptions,
        show: Emit,
        format: str,
    ) -> None:
        self._hidden = for_hidden_tests(settings, format)
        self.folder, self._store, self._settings = folder, store, settings
        self._results, self._options, self._show = results, options, show
        self._batch: Batch | None = None
        self.stopping = False

    @property
    def begun(self) -> bool:
        """Whether there is something to finish."""
        return self._batch is not None

    @property
    def fatal(self) -> GreenloopError | None:
        return self._batch.fatal if self._batch else None

    def stop(self) -> None:
        self.stopping = True
        if self._batch is not None:
            self._batch.stop()

    async def run(self) -> None:
        """Raises GreenloopError where nothing could be begun, or results cannot be written."""
        with open_sandbox(self._hidden) as box:
            provisions = Provisions(box, Provider(self._settings.allow_list))
            await self._collect(provisions)
            evaluation = Evaluation(self._store, self._results, provisions, self._show)
            self._batch = Batch(
                self._store.entries,
                self._settings,
                self.folder.path,
                self._options.jobs,
                self._options.requests,
                self._options.tokens,
                emit=evaluation.heard,
            )
            if self.stopping:
                self._batch.stop()
            await evaluation.run(self._batch)

    async def _collect(self, provisions: Provisions) -> None:
        known = self.folder.collected()
        self._show(Notice(f"{len(self._store)} tasks: are their hidden tests in order?"))
        await check_collected(
            self._store,
            provisions,
            at_once(),
            lambda task: self.stopping or task.tests_sha256 in known,
            lambda task: self.folder.keep_collected(task.tests_sha256),
        )


def _end(
    report: EvalReport, session: _Session, broken_off: GreenloopError | None, options: EvalOptions
) -> int:
    write_out(report.model_dump_json(indent=1) + "\n" if options.json else eval_text(report))
    if options.markdown is not None:
        write_form(options.markdown, eval_markdown(report))
    if not options.json:
        print(f"evaluation: {session.folder.path}", file=sys.stderr)
    early = early_end(broken_off, bool(session.stopping and report.not_run))
    if early is not None:
        return early
    if report.results and report.broken_off == len(report.results):
        complain(line_of(f"every task broke off: {report.results[0].why}", 500))
        return report.results[0].exit_status
    return 0


def compare_command(a: Path, b: Path, *, as_json: bool, markdown: str | None) -> int:
    """The exit status. Raises InputError where they cannot be compared."""
    found = compared(read_evaluation(a), read_evaluation(b))
    text = found.model_dump_json(indent=1) + "\n" if as_json else comparison_text(found)
    sys.stdout.write(text)
    sys.stdout.flush()
    if markdown is not None:
        write_form(markdown, comparison_markdown(found))
    return 0


def try_command(tasks: Iterator[Task], settings: Settings, *, as_json: bool, quiet: bool) -> int:
    """The exit status: 1 where a solution does not pass. Raises GreenloopError."""
    with tempfile.TemporaryDirectory(prefix="greenloop-") as room:
        store = TaskStore(Path(room) / "tasks.jsonl", tasks)
        if not len(store):
            raise InputError("there is no task to check")
        tried = asyncio.run(_tried(store, settings, quiet))
    sys.stdout.write(_as_json(tried) if as_json else _as_text(tried))
    sys.stdout.flush()
    return 0 if all(item.truth in ("passed", None) for item in tried) else 1


async def _tried(store: TaskStore, settings: Settings, quiet: bool) -> tuple[Tried, ...]:
    with open_sandbox(settings) as box:
        provisions = Provisions(box, Provider(settings.allow_list))
        return await try_solutions(store, provisions, at_once(), lambda item: _tell(item, quiet))


def _tell(item: Tried, quiet: bool) -> None:
    if item.truth not in ("passed", None) and not quiet:
        print(line_of(f"{item.id}: {item.truth}: {item.why}", 400), file=sys.stderr, flush=True)


def _as_text(tried: Sequence[Tried]) -> str:
    without = sum(item.truth is None for item in tried)
    passed = sum(item.truth == "passed" for item in tried)
    none = f"; {without} tasks have no solution of their own" if without else ""
    had = len(tried) - without
    return f"{passed} of {had} solutions of the data pass their hidden tests{none}\n"


def _as_json(tried: Sequence[Tried]) -> str:
    return json.dumps([item.model_dump(mode="json") for item in tried], indent=1) + "\n"
