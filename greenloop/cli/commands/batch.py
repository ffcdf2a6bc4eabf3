"""`batch`: many specifications."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from greenloop.batch.entries import read_entries
from greenloop.batch.runner import Batch
from greenloop.cli.batch_index import INDEX_FILE, RESULTS_FILE, write_index
from greenloop.cli.batch_outputs import BatchOutputs, OutcomeCollector, write_outputs
from greenloop.cli.executors import BatchLocation, create_executor
from greenloop.cli.options.common import flags_from_parameters
from greenloop.cli.process import print_error, report_early_end, write_stdout
from greenloop.errors import GreenloopError, OutputError
from greenloop.reporting.progress.batch import create_batch_progress, format_totals
from greenloop.settings import Settings
from greenloop.workflow.storage.request import digest


@dataclass(frozen=True)
class BatchOptions:
    """What is typed besides the settings."""

    output_dir: Path | None = None
    run_dir: str | None = None
    jobs: int = 4
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    json: bool = False
    quiet: bool = False
    force: bool = False
    engine: str = "local"
    address: str | None = None
    outputs: BatchOutputs = field(default_factory=BatchOutputs)


def batch_from_parameters(parameters: dict[str, Any]) -> int:
    """`greenloop batch` from its parameters: the exit status."""
    options = BatchOptions(
        output_dir=parameters["output_dir"],
        run_dir=parameters["run_dir"],
        jobs=parameters["jobs"],
        requests_per_minute=parameters["requests_per_minute"],
        tokens_per_minute=parameters["tokens_per_minute"],
        json=parameters["json"],
        quiet=parameters["quiet"],
        force=parameters["force"],
        engine=parameters["engine"],
        address=parameters["address"],
        outputs=BatchOutputs(
            parameters["markdown"], parameters["junit"], parameters["github_output"]
        ),
    )
    return batch_command(parameters["specs"], options, flags_from_parameters(parameters))


def batch_command(specs: Sequence[str], options: BatchOptions, flags: dict[str, Any]) -> int:
    """`greenloop batch`: the exit status."""
    try:
        settings = Settings.load(**flags)
        entries = read_entries(specs, options.output_dir)
        place = BatchLocation(_default_folder(settings, specs, options), options.run_dir)
        engine = create_executor(options.engine, options.address, place)
        folder = place.folder.absolute()
        _create_folder(folder)
        place.fetch_results()
    except GreenloopError as error:
        print_error(str(error))
        return error.exit_status
    broken_off: GreenloopError | None = None
    with create_batch_progress(quiet=options.quiet) as show:
        gathered = OutcomeCollector(show)
        batch = Batch(
            entries,
            settings,
            folder,
            options.jobs,
            options.requests_per_minute,
            options.tokens_per_minute,
            options.force,
            gathered,
            engine,
        )
        try:
            asyncio.run(run_until_stopped(batch, batch.run()))
        except asyncio.CancelledError:
            batch.stop()
        except GreenloopError as error:
            broken_off = error
    broken_off = broken_off or batch.fatal_error
    try:
        write_index(batch, gathered.outcomes)
        write_outputs(batch, gathered.outcomes, options.outputs)
    except GreenloopError as error:
        broken_off = broken_off or error
    return _finish_batch(batch, broken_off, options)


class Stoppable(Protocol):
    """What can be asked to begin nothing new."""

    is_stopping: bool

    def stop(self) -> None: ...


async def run_until_stopped(runner: Stoppable, coroutine: Coroutine[Any, Any, Any]) -> None:
    """The first signal lets what is under way come to its end, the second ends it at once."""
    task = asyncio.ensure_future(coroutine)

    def stop() -> None:
        if runner.is_stopping:
            task.cancel()
            return
        runner.stop()
        print_error("finishing what is under way; once more ends it at once")

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    await task


def _finish_batch(batch: Batch, broken_off: GreenloopError | None, options: BatchOptions) -> int:
    totals = batch.totals
    write_stdout(totals.model_dump_json(indent=1) + "\n" if options.json else format_totals(totals))
    if not options.json:
        print(f"results: {batch.folder / RESULTS_FILE}", file=sys.stderr)
        print(f"page: {batch.folder / INDEX_FILE}", file=sys.stderr)
    early = report_early_end(broken_off, bool(batch.is_stopping and totals.not_run))
    if early is not None:
        return early
    return 0 if totals.reached == totals.specifications else 1


def _default_folder(settings: Settings, specs: Sequence[str], options: BatchOptions) -> Path:
    """The same for the same command: that is how it goes on."""
    places = [spec if spec == "-" else str(Path(spec).absolute()) for spec in specs]
    name = digest("\0".join([*places, str(options.output_dir and options.output_dir.absolute())]))
    return settings.home / "batches" / name[:16]


def _create_folder(folder: Path) -> None:
    try:
        (folder / "runs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror or error}") from None
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{folder} cannot be written: no permission")
