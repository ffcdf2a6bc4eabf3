"""The files that a batch writes about itself, for people and for CI."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.batch.runner import Batch
from greenloop.cli.commands.report import write_output
from greenloop.errors import OutputError
from greenloop.events import EntryEnded, Event, EventSink
from greenloop.records import BatchOutcome
from greenloop.reporting.batch.summary import (
    BatchSummary,
    render_batch_junit,
    render_batch_markdown,
)


@dataclass(frozen=True)
class BatchOutputs:
    """Where they are wanted; `-` is standard output. `github_output` is appended to."""

    markdown: str | None = None
    junit: str | None = None
    github_output: Path | None = None


@dataclass
class OutcomeCollector:
    """Passes events on, and keeps how each entry ended."""

    sink: EventSink
    outcomes: dict[str, BatchOutcome] = field(default_factory=dict)

    def __call__(self, event: Event) -> None:
        if isinstance(event, EntryEnded):
            self.outcomes[event.outcome.id] = event.outcome
        self.sink(event)


def write_outputs(batch: Batch, outcomes: dict[str, BatchOutcome], outputs: BatchOutputs) -> None:
    """Writes them, in the order of the entries.

    Raises:
        OutputError: one cannot be written.
    """
    ids = [item.id for item in batch.entries]
    ended = tuple(outcomes[name] for name in ids if name in outcomes)
    left = tuple(name for name in ids if name not in outcomes)
    summary = BatchSummary(batch.totals, ended, left)
    if outputs.markdown is not None:
        write_output(outputs.markdown, render_batch_markdown(summary))
    if outputs.junit is not None:
        write_output(outputs.junit, render_batch_junit(summary))
    if outputs.github_output is not None:
        _append_text(outputs.github_output, "".join(_github_output_lines(summary, batch.folder)))


def _github_output_lines(summary: BatchSummary, folder: Path) -> Iterator[str]:
    """The outputs of a step as GitHub reads them. No file name can end the list of files early."""
    totals = summary.totals
    counts = {
        "reached": totals.reached,
        "verified": totals.verified,
        "failed": totals.specifications - totals.reached,
    }
    yield from (f"{name}={count}\n" for name, count in counts.items())
    end = f"end-{secrets.token_hex(16)}"
    files = [os.path.relpath(path) for item in summary.outcomes for path in _written_files(item)]
    yield "".join(f"{line}\n" for line in (f"changed-files<<{end}", *files, end))
    yield f"report-dir={folder}\n"


def _written_files(outcome: BatchOutcome) -> tuple[str, ...]:
    return outcome.written if outcome.kind == "reached" else ()


def _append_text(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from None
