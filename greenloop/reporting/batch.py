"""Results of a batch, and of `verify`, as Markdown, terminal lines and JUnit XML."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.records.batch import BatchOutcome, BatchTotals, LockCheckResult
from greenloop.reporting.escaping import escape_invisible
from greenloop.reporting.formats.junit import JunitResult, junit_case, render_suite
from greenloop.reporting.formats.markdown import (
    bullet_list,
    code_span,
    collapsible_list,
    escape_markdown,
)
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
    """Return JUnit XML with one case for each specification.

    A case is a failure if the code missed the required verdict, an error if the run ended early or
    was refused, and skipped if it was not started.
    """
    cases = [
        junit_case(item.id, item.seconds, _junit_result(item), item.reason or item.kind, item.kind)
        for item in summary.outcomes
    ]
    for name in summary.not_run:
        cases.append(junit_case(name, 0.0, "skipped", "the batch ended before this entry"))
    return render_suite("greenloop batch", cases, seconds=summary.totals.seconds)


def _markdown_lines(summary: BatchSummary) -> Iterator[str]:
    totals = summary.totals
    sign = "✓" if totals.reached == totals.specifications else "✗"
    yield f"## {sign} {totals.reached} of {totals.specifications} specifications reached their goal"
    yield ""
    yield from (escape_markdown(line) for line in format_totals(totals).splitlines())
    unchanged = [item for item in summary.outcomes if item.kind in _UNCHANGED_KINDS]
    listed = [item for item in summary.outcomes if item.kind not in _UNCHANGED_KINDS]
    if listed:
        yield ""
        yield "| | specification | result | tests | why not better |"
        yield "|---|---|---|---:|---|"
        for item in listed[:_MAX_ROWS]:
            sign = VERDICT_SIGNS[item.verdict] if item.verdict else "✗"
            cells = (sign, code_span(item.id), _result_of(item), item.tests or "")
            yield f"| {' | '.join(map(str, cells))} | {escape_markdown(item.reason)} |"
        if len(listed) > _MAX_ROWS:
            yield f"| | and {len(listed) - _MAX_ROWS} more | | | |"
    names = [
        f"{code_span(item.id)} ({item.verdict})" if item.verdict else code_span(item.id)
        for item in unchanged
    ]
    yield from collapsible_list(f"{len(names)} unchanged", names)
    names = [code_span(name) for name in summary.not_run]
    yield from collapsible_list(f"{len(names)} not run", names)


def _result_of(item: BatchOutcome) -> str | None:
    return item.verdict if item.kind in ("reached", "missed") else item.kind


def _junit_result(item: BatchOutcome) -> JunitResult | None:
    if not item.exit_status:
        return None
    return "failure" if item.kind in ("missed", "done before") else "error"


def render_verify_markdown(results: Sequence[LockCheckResult]) -> str:
    """Return Markdown with one line for each difference, and the number of locks that hold."""
    held = sum(not item.drift for item in results)
    sign = "✓" if held == len(results) else "✗"
    drift = [
        f"{code_span(item.lock)}: {escape_markdown(line)}"
        for item in results
        for line in item.drift
    ]
    lines = ["", *bullet_list(drift)] if drift else []
    return "\n".join([f"## {sign} {held} of {len(results)} locks hold", *lines]) + "\n"


def render_verify_junit(results: Sequence[LockCheckResult]) -> str:
    """Return one case for each lock file, which fails if code, tests, text or grade drifted."""
    cases = (
        junit_case(
            item.lock, 0.0, "failure" if item.drift else None, "; ".join(item.drift), "drift"
        )
        for item in results
    )
    return render_suite("greenloop verify", cases)
