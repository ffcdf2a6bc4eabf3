"""Result of a batch as Markdown, terminal lines and JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.records import BatchOutcome, BatchTotals
from greenloop.reporting.escaping import escape_invisible
from greenloop.reporting.formats.junit import JunitCase, render_suite
from greenloop.reporting.formats.markdown import code_span, escape_markdown
from greenloop.reporting.progress.batch import format_totals
from greenloop.reporting.summary import VERDICT_SIGNS

_MAX_ROWS = 500  # a job summary on GitHub is limited to 1 MiB
_UNCHANGED_KINDS = ("unchanged", "done before")


@dataclass(frozen=True)
class BatchSummary:
    """Outcomes and totals of a batch; `not_run` names the entries that were not started."""

    totals: BatchTotals
    outcomes: tuple[BatchOutcome, ...]
    not_run: tuple[str, ...] = ()


def render_batch_markdown(summary: BatchSummary) -> str:
    """Return a table of the entries that were run, and a folded list of the unchanged ones."""
    return "\n".join(_markdown_lines(summary)) + "\n"


def render_batch_lines(summary: BatchSummary) -> Iterator[str]:
    """Yield one terminal line for each entry, then the totals."""
    for item in summary.outcomes:
        reason = f": {item.reason}" if item.reason else ""
        yield escape_invisible(f"{_result_of(item)!s:10} {item.id}{reason}")
    yield from format_totals(summary.totals).splitlines()


def render_batch_junit(summary: BatchSummary) -> str:
    """Return one case for each specification.

    It is a failure where the code missed the requirement, an error where the run broke off or was
    refused, and skipped where it was not started.
    """
    cases = [_entry_case(item) for item in summary.outcomes]
    for name in summary.not_run:
        cases.append(JunitCase(name, 0.0, "skipped", "the batch ended before this entry"))
    return render_suite("greenloop batch", cases, seconds=summary.totals.seconds)


def collapsible_list(label: str, names: Sequence[str]) -> Iterator[str]:
    """Yield a Markdown list that opens on a click; nothing where it is empty."""
    if not names:
        return
    yield from ("", f"<details><summary>{len(names)} {label}</summary>", "")
    yield from (f"- {name}" for name in names[:_MAX_ROWS])
    if len(names) > _MAX_ROWS:
        yield f"- and {len(names) - _MAX_ROWS} more"
    yield from ("", "</details>")


def _markdown_lines(summary: BatchSummary) -> Iterator[str]:
    totals = summary.totals
    sign = "✓" if totals.reached == totals.specifications else "✗"
    yield f"## {sign} {totals.reached} of {totals.specifications} specifications reached"
    yield ""
    yield from (escape_markdown(line) for line in format_totals(totals).splitlines())
    unchanged = [item for item in summary.outcomes if item.kind in _UNCHANGED_KINDS]
    listed = [item for item in summary.outcomes if item.kind not in _UNCHANGED_KINDS]
    if listed:
        yield ""
        yield "| | specification | result | tests | why not better |"
        yield "|---|---|---|---:|---|"
        yield from (_row(item) for item in listed[:_MAX_ROWS])
        if len(listed) > _MAX_ROWS:
            yield f"| | and {len(listed) - _MAX_ROWS} more | | | |"
    yield from collapsible_list("unchanged", [_name_with_verdict(item) for item in unchanged])
    yield from collapsible_list("not run", [code_span(name) for name in summary.not_run])


def _row(item: BatchOutcome) -> str:
    sign = VERDICT_SIGNS[item.verdict] if item.verdict else "✗"
    cells = (sign, code_span(item.id), _result_of(item), item.tests or "")
    return f"| {' | '.join(map(str, cells))} | {escape_markdown(item.reason)} |"


def _result_of(item: BatchOutcome) -> str | None:
    return item.verdict if item.kind in ("reached", "missed") else item.kind


def _name_with_verdict(item: BatchOutcome) -> str:
    return f"{code_span(item.id)} ({item.verdict})" if item.verdict else code_span(item.id)


def _entry_case(item: BatchOutcome) -> JunitCase:
    if not item.exit_status:
        return JunitCase(item.id, item.seconds)
    reason = item.reason or item.kind
    if item.kind == "missed":
        return JunitCase(item.id, item.seconds, "failure", reason, item.kind)
    return JunitCase(item.id, item.seconds, "error", reason, item.kind)
