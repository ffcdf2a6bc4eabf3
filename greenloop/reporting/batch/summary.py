"""A batch for a pull request, a job's summary, and a reader of JUnit XML: all entries at a glance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as Xml

from greenloop.records import BatchOutcome, BatchTotals
from greenloop.reporting.escaping import escape_invisible
from greenloop.reporting.formats.junit import build_case, render_suites
from greenloop.reporting.formats.markdown import code_span, escape_markdown
from greenloop.reporting.progress.batch import format_totals
from greenloop.reporting.titles import VERDICT_SIGNS

_MAX_ROWS = 500  # rows; a job's summary on GitHub takes 1 MiB
_UNCHANGED_KINDS = ("unchanged", "done before")


@dataclass(frozen=True)
class BatchSummary:
    """How a batch ended. `not_run` are the names of the entries that it did not get to."""

    totals: BatchTotals
    outcomes: tuple[BatchOutcome, ...]
    not_run: tuple[str, ...] = ()


def render_batch_markdown(summary: BatchSummary) -> str:
    """A table of what was done and why it is not better; what was left as it was is folded."""
    return "\n".join(_markdown_lines(summary)) + "\n"


def render_batch_lines(summary: BatchSummary) -> Iterator[str]:
    """For a terminal: a line an entry, then the sums."""
    for item in summary.outcomes:
        told = f": {item.reason}" if item.reason else ""
        came_to = item.verdict if item.kind in ("reached", "missed") else item.kind
        yield escape_invisible(f"{came_to!s:10} {item.id}{told}")
    yield from format_totals(summary.totals).splitlines()


def _markdown_lines(summary: BatchSummary) -> Iterator[str]:
    totals = summary.totals
    sign = "✓" if totals.reached == totals.specifications else "✗"
    yield f"## {sign} {totals.reached} of {totals.specifications} specifications reached"
    yield ""
    yield from (escape_markdown(line) for line in format_totals(totals).splitlines())
    told = [item for item in summary.outcomes if item.kind not in _UNCHANGED_KINDS]
    if told:
        yield ""
        yield "| | specification | came to | tests | why not better |"
        yield "|---|---|---|---:|---|"
        yield from (_row(item) for item in told[:_MAX_ROWS])
        if len(told) > _MAX_ROWS:
            yield f"| | and {len(told) - _MAX_ROWS} more | | | |"
    yield from collapsible_list(
        "as they were",
        [_name_with_verdict(item) for item in summary.outcomes if _is_unchanged(item)],
    )
    yield from collapsible_list("not run", [code_span(name) for name in summary.not_run])


def _row(item: BatchOutcome) -> str:
    sign = VERDICT_SIGNS[item.verdict] if item.verdict else "✗"
    came_to = item.verdict if item.kind in ("reached", "missed") else item.kind
    tests = item.tests or ""
    return (
        f"| {sign} | {code_span(item.id)} | {came_to} | {tests} | {escape_markdown(item.reason)} |"
    )


def _is_unchanged(item: BatchOutcome) -> bool:
    return item.kind in _UNCHANGED_KINDS


def _name_with_verdict(item: BatchOutcome) -> str:
    return f"{code_span(item.id)} ({item.verdict})" if item.verdict else code_span(item.id)


def collapsible_list(label: str, names: Sequence[str]) -> Iterator[str]:
    """A list that opens on a click; nothing where it is empty."""
    if not names:
        return
    yield ""
    yield f"<details><summary>{len(names)} {label}</summary>"
    yield ""
    yield from (f"- {name}" for name in names[:_MAX_ROWS])
    if len(names) > _MAX_ROWS:
        yield f"- and {len(names) - _MAX_ROWS} more"
    yield ""
    yield "</details>"


def render_batch_junit(summary: BatchSummary) -> str:
    """One case a specification: a failure where it got nowhere near, an error where its run broke
    off or was refused, skipped where the batch did not get to it."""
    left = {"message": "the batch did not get to it"}
    cases = [_build_entry_case(item) for item in summary.outcomes]
    cases += [build_case(name, skipped=left) for name in summary.not_run]
    return render_suites("greenloop batch", cases, summary.totals.seconds)


def _build_entry_case(item: BatchOutcome) -> Xml.Element:
    if not item.exit_status:
        return build_case(item.id, item.seconds)
    told = {"message": item.reason or item.kind, "type": item.kind}
    if item.kind == "missed":
        return build_case(item.id, item.seconds, failure=told)
    return build_case(item.id, item.seconds, error=told)
