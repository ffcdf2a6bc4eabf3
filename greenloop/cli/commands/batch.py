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
from greenloop.cli.batch_index import PAGE, RESULTS, write_index
from greenloop.cli.batch_outputs import BatchForms, Gathered, write_forms
from greenloop.cli.executors import Place, engine_of
from greenloop.cli.options.common import flags_in
from greenloop.cli.process import complain, early_end, write_out
from greenloop.errors import GreenloopError, OutputError
from greenloop.reporting.progress.batch import batch_progress, totals_text
from greenloop.settings import Settings
from greenloop.workflow.storage.request import digest


@dataclass(frozen=True)
class BatchOptions:
    """What is typed besides the settings."""

    output_dir: Path | None = None
    run_dir: str | None = None
    jobs: int = 4
    requests: int | None = None
    tokens: int | None = None
    json: bool = False
    quiet: bool = False
    force: bool = False
    engine: str = "local"
    address: str | None = None
    forms: BatchForms = field(default_factory=BatchForms)


def batch_typed(typed: dict[str, Any]) -> int:
    """`greenloop batch` from its parameters: the exit status."""
    options = BatchOptions(
        output_dir=typed["output_dir"],
        run_dir=typed["run_dir"],
        jobs=typed["jobs"],
        requests=typed["requests_per_minute"],
        tokens=typed["tokens_per_minute"],
        json=typed["json"],
        quiet=typed["quiet"],
        force=typed["force"],
        engine=typed["engine"],
        address=typed["address"],
        forms=BatchForms(typed["markdown"], typed["junit"], typed["github_output"]),
    )
    return batch_command(typed["specs"], options, flags_in(typed))


def batch_command(specs: Sequence[str], options: BatchOptions, flags: dict[str, Any]) -> int:
    """`greenloop batch`: the exit status."""
    try:
        settings = Settings.load(**flags)
        entries = read_entries(specs, options.output_dir)
        place = Place(_folder(settings, specs, options), options.run_dir)
        engine = engine_of(options.engine, options.address, place)
        folder = place.folder.absolute()
        _make(folder)
        place.fetch_results()
    except GreenloopError as error:
        complain(str(error))
        return error.exit_status
    broken_off: GreenloopError | None = None
    with batch_progress(quiet=options.quiet) as show:
        gathered = Gathered(show)
        batch = Batch(
            entries,
            settings,
            folder,
            options.jobs,
            options.requests,
            options.tokens,
            options.force,
            gathered,
            engine,
        )
        try:
            asyncio.run(to_its_end(batch, batch.run()))
        except asyncio.CancelledError:
            batch.stop()
        except GreenloopError as error:
            broken_off = error
    broken_off = broken_off or batch.fatal
    try:
        write_index(batch, gathered.outcomes)
        write_forms(batch, gathered.outcomes, options.forms)
    except GreenloopError as error:
        broken_off = broken_off or error
    return _end(batch, broken_off, options)


class Stoppable(Protocol):
    """What can be asked to begin nothing new."""

    stopping: bool

    def stop(self) -> None: ...


async def to_its_end(work: Stoppable, doing: Coroutine[Any, Any, Any]) -> None:
    """The first signal lets what is under way come to its end, the second ends it at once."""
    task = asyncio.ensure_future(doing)

    def stop() -> None:
        if work.stopping:
            task.cancel()
            return
        work.stop()
        complain("finishing what is under way; once more ends it at once")

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    await task


def _end(batch: Batch, broken_off: GreenloopError | None, options: BatchOptions) -> int:
    totals = batch.totals
    write_out(totals.model_dump_json(indent=1) + "\n" if options.json else totals_text(totals))
    if not options.json:
        print(f"results: {batch.folder / RESULTS}", file=sys.stderr)
        print(f"page: {batch.folder / PAGE}", file=sys.stderr)
    early = early_end(broken_off, bool(batch.stopping and totals.not_run))
    if early is not None:
        return early
    return 0 if totals.reached == totals.specifications else 1


def _folder(settings: Settings, specs: Sequence[str], options: BatchOptions) -> Path:
    """The same for the same command: that is how it goes on."""
    places = [spec if spec == "-" else str(Path(spec).absolute()) for spec in specs]
    name = digest("\0".join([*places, str(options.output_dir and options.output_dir.absolute())]))
    return settings.home / "batches" / name[:16]


def _make(folder: Path) -> None:
    try:
        (folder / "runs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror or error}") from None
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{folder} cannot be written: no permission")
