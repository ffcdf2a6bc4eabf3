"""Files that describe the outcome of a batch, for users and for CI."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from greenloop.batch.runner import Batch
from greenloop.cli.commands.report import write_outputs as write_files
from greenloop.cli.options.batch import BatchOptions
from greenloop.files import writing
from greenloop.records import BatchOutcome
from greenloop.reporting.batch.summary import (
    BatchSummary,
    render_batch_junit,
    render_batch_markdown,
)


def write_outputs(batch: Batch, outcomes: dict[str, BatchOutcome], options: BatchOptions) -> None:
    """Write the files that the options name, in the order of the entries.

    Raises:
        OutputError: one of them cannot be written.
    """
    ids = [item.id for item in batch.entries]
    ended = tuple(outcomes[name] for name in ids if name in outcomes)
    missing = tuple(name for name in ids if name not in outcomes)
    summary = BatchSummary(batch.totals, ended, missing)
    files = (options.markdown, render_batch_markdown), (options.junit, render_batch_junit)
    write_files(summary, *files)
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
