"""The index page of a batch: written when it ends, or by `report` from its stored results."""

import os
from collections.abc import Sequence
from pathlib import Path

from greenloop.batch.results import RESULTS_FILE, add_outcome, read_lines
from greenloop.errors import InputError
from greenloop.records.batch import BatchOutcome, BatchTotals
from greenloop.reporting.batch import BatchSummary
from greenloop.reporting.html.index import IndexEntry, render_index_html
from greenloop.workflow.storage.run_dir import write_atomically

INDEX_FILE = "index.html"


def write_index(batch: BatchSummary, folder: Path) -> None:
    """Write the page of a batch that has ended. Raises OutputError."""
    write_atomically(folder / INDEX_FILE, render_batch_page(batch, folder))


def is_batch_folder(folder: Path) -> bool:
    """Return whether a folder is that of a batch, not of a run."""
    return (folder / RESULTS_FILE).is_file()


def read_batch(folder: Path) -> BatchSummary:
    """Read the last outcome of each entry of a batch, and sum them up.

    Raises InputError: there is no result.
    """
    results = tuple(read_lines(folder / RESULTS_FILE, BatchOutcome))
    outcomes = tuple({item.id: item for item in results}.values())
    if not outcomes:
        raise InputError(f"{folder / RESULTS_FILE} has no results yet: run the batch first")
    count = len(outcomes) + _count_unfinished(folder, results)
    totals = BatchTotals(specifications=count, not_run=count)
    for item in outcomes:
        totals = add_outcome(totals, item)
    known = [item.cost_usd for item in outcomes if item.cost_usd is not None]
    spent = {
        "cost_usd": sum(known) if len(known) == len(outcomes) else None,
        "seconds": sum(item.seconds for item in outcomes),
        "ended": "from the stored results; times are summed",
    }
    return BatchSummary(totals.model_copy(update=spent), outcomes)


def _count_unfinished(folder: Path, outcomes: Sequence[BatchOutcome]) -> int:
    """Return the number of runs without a result, which a killed batch leaves behind."""
    known = {Path(item.run_dir).name for item in outcomes if item.run_dir}
    runs = folder / "runs"
    return sum(path.name not in known for path in runs.iterdir()) if runs.is_dir() else 0


def render_batch_page(batch: BatchSummary, base_folder: Path) -> str:
    """Return the page; its links are relative to `base_folder`."""

    def link(path: Path) -> str:
        return os.path.relpath(path.absolute(), base_folder.absolute())

    entries: list[IndexEntry] = []
    for item in batch.outcomes:
        page, report = (Path(item.run_dir, name) for name in ("report.html", "report.json"))
        named = {"code": item.output, "tests": item.tests_output, "report.json": report}
        files = ((label, Path(place)) for label, place in named.items() if place)
        links = tuple((label, link(path)) for label, path in files if path.is_file())
        entries.append(IndexEntry(item.id, item, link(page) if page.is_file() else "", links))
    entries += map(IndexEntry, batch.not_run)
    return render_index_html(entries, batch.totals)
