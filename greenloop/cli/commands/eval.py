"""The command `eval`: measure a model by hidden tests."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from greenloop.batch.executor import BatchConfig
from greenloop.cli.finish import prints_text, write_outputs
from greenloop.cli.options.checks import EvalOptions
from greenloop.cli.options.settings import load_settings
from greenloop.cli.process import end_early, print_error, run_until_stopped, write_stdout
from greenloop.dependencies import PackageResolver
from greenloop.errors import GreenloopError, InputError
from greenloop.evals.datasets.loader import TaskSource
from greenloop.evals.hidden_tests import (
    SolutionResult,
    TaskSandboxFactory,
    adapt_settings_to_format,
    run_solutions,
)
from greenloop.evals.output_dir import build_setup, open_eval_folder
from greenloop.evals.results import EVAL_RESULTS_FILE, HiddenTestResults, build_eval_report
from greenloop.evals.runner import Evaluation
from greenloop.evals.task import EvalTask
from greenloop.evals.task_store import collect_tasks
from greenloop.llm.factory import open_sources
from greenloop.records.base import escape_json
from greenloop.records.batch import EvalReport
from greenloop.reporting.escaping import first_line
from greenloop.reporting.evals import render_eval_markdown, render_eval_text
from greenloop.reporting.progress.batch import create_batch_progress
from greenloop.reporting.summary import pluralize
from greenloop.sandbox import open_sandbox
from greenloop.settings import Settings
from greenloop.workflow.storage.run_dir import RunDirectory, write_atomically


def eval_command(options: EvalOptions) -> int:
    """Run `greenloop eval` and return the exit status."""
    settings = load_settings(options)
    source = TaskSource(options.tasks, options.format, frozenset(options.leave_out or ()))
    if options.check_tasks:
        if options.markdown is not None:
            raise InputError("--check-tasks has no report: leave out --markdown")
        tasks = islice(source, options.limit)
        fitting = adapt_settings_to_format(settings, source.format)
        return _check_tasks(tasks, fitting, as_json=options.json, quiet=options.quiet)
    return _run_evaluation(options.tasks, source, settings, options)


def _run_evaluation(
    tasks: Path, source: TaskSource, settings: Settings, options: EvalOptions
) -> int:
    """Run an evaluation; return the exit status. Raises GreenloopError if it cannot start."""
    open_sources(settings)  # report an error of the model first
    setup = build_setup(tasks, source.format, settings)
    folder = open_eval_folder(setup, settings.home, options.run_dir)
    with ExitStack() as stack:
        stack.enter_context(RunDirectory(folder).lock())
        by_id = collect_tasks(islice(source, options.limit))
        if not by_id:
            raise InputError(f"{tasks}: there is no task to evaluate")
        results = HiddenTestResults(folder / EVAL_RESULTS_FILE)
        show = stack.enter_context(create_batch_progress(quiet=options.quiet))
        limits = (options.jobs, options.requests_per_minute, options.tokens_per_minute)
        config = BatchConfig(settings, *limits, show)
        session = Evaluation(folder, by_id, results, config, source.format)
        failure = run_until_stopped(session, session.run())
        if failure and session.batch is None:
            raise failure
        failure = failure or (session.batch.fatal_error if session.batch else None)
        known = [item for item in map(results.find_result, by_id.values()) if item is not None]
        report = build_eval_report(setup, len(by_id), known)
        write_atomically(folder / "eval.json", report.model_dump_json(indent=1) + "\n")
    return _finish_evaluation(report, session, failure, options)


def _finish_evaluation(
    report: EvalReport,
    session: Evaluation,
    failure: GreenloopError | None,
    options: EvalOptions,
) -> int:
    write_outputs(report, (options.markdown, render_eval_markdown))
    if options.json:
        write_stdout(report.model_dump_json(indent=1) + "\n")
    elif prints_text(options):
        write_stdout(render_eval_text(report))
    if not options.json:
        print(f"evaluation: {session.folder}", file=sys.stderr)
    if status := end_early(failure, bool(session.is_stopping and report.not_run)):
        return status
    if report.results and report.broken_off == len(report.results):
        print_error(first_line(f"every task failed: {report.results[0].why}", 500))
        return report.results[0].exit_status
    return 0


def _check_tasks(
    tasks: Iterator[EvalTask], settings: Settings, *, as_json: bool, quiet: bool
) -> int:
    """Run the solutions of the tasks; return 1 if one does not pass. Raises GreenloopError."""
    checked = collect_tasks(tasks).values()
    if not checked:
        raise InputError("there is no task to check")
    with open_sandbox(settings) as sandbox:
        factory = TaskSandboxFactory(sandbox, PackageResolver(settings.allow_list))
        work = run_solutions(checked, factory, lambda item: _print_failure(item, quiet))
        results = asyncio.run(work)
    as_list = [item.model_dump(mode="json") for item in results]
    text = escape_json(json.dumps(as_list, indent=1)) + "\n"
    with_solution = [item for item in results if item.truth is not None]
    passed, without = sum(item.truth == "passed" for item in results), len(results) - len(
        with_solution
    )
    none = f"; {pluralize(without, 'task')} without a solution of its own" if without else ""
    summary = (
        f"{passed} of {len(with_solution)} solutions of the data pass their hidden tests{none}\n"
    )
    write_stdout(text if as_json else summary)
    return 0 if all(item.truth in ("passed", None) for item in results) else 1


def _print_failure(item: SolutionResult, quiet: bool) -> None:
    if item.truth not in ("passed", None) and not quiet:
        print(first_line(f"{item.id}: {item.truth}: {item.why}", 400), file=sys.stderr, flush=True)
