"""The command `batch`: run many specifications at once."""

import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

from greenloop.batch.entries import read_entries
from greenloop.batch.executor import BatchConfig
from greenloop.batch.results import RESULTS_FILE
from greenloop.batch.runner import Batch
from greenloop.cli.batch_index import INDEX_FILE, write_index
from greenloop.cli.executors import create_executor
from greenloop.cli.finish import prints_text, write_outputs
from greenloop.cli.options.checks import BatchOptions
from greenloop.cli.options.settings import load_settings
from greenloop.cli.process import end_early, run_until_stopped, write_stdout
from greenloop.errors import GreenloopError, OutputError
from greenloop.events import EntryEnded, Event, EventSink
from greenloop.files import writing
from greenloop.records.batch import BatchOutcome
from greenloop.reporting.batch import (
    BatchSummary,
    render_batch_junit,
    render_batch_markdown,
)
from greenloop.reporting.progress.batch import create_batch_progress, format_totals
from greenloop.settings import Settings
from greenloop.workflow.storage.request import digest


def batch_command(options: BatchOptions) -> int:
    """Run `greenloop batch` and return the exit status."""
    outcomes: dict[str, BatchOutcome] = {}

    def emit(event: Event) -> None:
        if isinstance(event, EntryEnded):
            outcomes[event.outcome.id] = event.outcome
        progress(event)

    with create_batch_progress(quiet=options.quiet) as progress:
        batch = _create_batch(options, load_settings(options), emit)
        failure = run_until_stopped(batch, batch.run()) or batch.fatal_error
    try:
        _write_outputs(batch, outcomes, options)
    except GreenloopError as error:
        failure = failure or error
    return _finish_batch(batch, failure, options)


def _create_batch(options: BatchOptions, settings: Settings, emit: EventSink) -> Batch:
    """Return the batch; its folder exists. Raises GreenloopError."""
    if options.output_dir and options.output_dir.is_file():
        raise OutputError(f"--output-dir {options.output_dir} is a file; name a folder")
    entries = read_entries(options.specs, options.output_dir)
    # The same folder for the same command, so that running it again continues the batch.
    sources = [spec if spec == "-" else str(Path(spec).absolute()) for spec in options.specs]
    output_dir = options.output_dir and options.output_dir.absolute()
    name = digest("\0".join([*sources, str(output_dir)]))[:16]
    folder = (options.run_dir or settings.home / "batches" / name).absolute()
    executor = create_executor(options.engine, options.address, folder)
    with writing(folder):
        (folder / "runs").mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{folder} cannot be written: no permission")
    limits = (options.jobs, options.requests_per_minute, options.tokens_per_minute)
    return Batch(entries, BatchConfig(settings, *limits, emit), folder, options.force, executor)


def _finish_batch(batch: Batch, failure: GreenloopError | None, options: BatchOptions) -> int:
    totals = batch.totals
    if options.json:
        write_stdout(totals.model_dump_json(indent=1) + "\n")
    elif prints_text(options):
        write_stdout(format_totals(totals))
    if not options.json:
        print(f"results: {batch.folder / RESULTS_FILE}", file=sys.stderr)
        print(f"page: {batch.folder / INDEX_FILE}", file=sys.stderr)
    status = end_early(failure, bool(batch.is_stopping and totals.not_run))
    return status or int(totals.reached != totals.specifications)


def _write_outputs(batch: Batch, outcomes: dict[str, BatchOutcome], options: BatchOptions) -> None:
    """Write the page, and the files that the options name, in the order of the entries.

    Raises OutputError: one of them cannot be written.
    """
    ids = [item.id for item in batch.entries]
    ended = tuple(outcomes[name] for name in ids if name in outcomes)
    missing = tuple(name for name in ids if name not in outcomes)
    summary = BatchSummary(batch.totals, ended, missing)
    write_index(summary, batch.folder)
    files = (options.markdown, render_batch_markdown), (options.junit, render_batch_junit)
    write_outputs(summary, *files)
    if options.github_output is not None:
        path = options.github_output
        with writing(path), path.open("a", encoding="utf-8") as file:
            file.writelines(_github_output_lines(summary, batch.folder))


def _github_output_lines(summary: BatchSummary, folder: Path) -> Iterator[str]:
    """Yield the outputs of a GitHub step. A random delimiter ends the list of files."""
    totals = summary.totals
    yield f"reached={totals.reached}\n"
    yield f"verified={totals.verified}\n"
    yield f"failed={totals.specifications - totals.reached}\n"
    end = f"end-{secrets.token_hex(16)}"
    reached = [item for item in summary.outcomes if item.kind == "reached"]
    files = [os.path.relpath(path) for item in reached for path in item.written]
    yield "".join(f"{line}\n" for line in (f"changed-files<<{end}", *files, end))
    yield f"report-dir={folder}\n"
