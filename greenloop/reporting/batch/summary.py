"""A batch for a pull request, a job's summary, and a reader of JUnit XML: all entries at a glance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as Xml

from greenloop.records import BatchOutcome, BatchTotals
from greenloop.reporting.escaping import visible
from greenloop.reporting.formats.junit import case, suites
from greenloop.reporting.formats.markdown import code, plain
from greenloop.reporting.progress.batch import totals_text
from greenloop.reporting.titles import SIGN

_MOST = 500  # rows; a job's summary on GitHub takes 1 MiB
_QUIET = ("unchanged", "done before")


@dataclass(frozen=True)
class BatchSummary:
    """How a batch ended. `not_run` are the names of the entries that it did not get to."""

    totals: BatchTotals
    outcomes: tuple[BatchOutcome, ...]
    not_run: tuple[str, ...] = ()


def batch_markdown(summary: BatchSummary) -> str:
    """A table of what was done and why it is not better; what was left as it was is folded."""
    return "\n".join(_lines(summary)) + "\n"


def batch_lines(summary: BatchSummary) -> Iterator[str]:
    """For a terminal: a line an entry, then the sums."""
    for item in summary.outcomes:
        told = f": {item.reason}" if item.reason else ""
        came_to = item.verdict if item.kind in ("reached", "missed") else item.kind
        yield visible(f"{came_to!s:10} {item.id}{told}")
    yield from totals_text(summary.totals).splitlines()


def _lines(summary: BatchSummary) -> Iterator[str]:
    totals = summary.totals
    sign = "✓" if totals.reached == totals.specifications else "✗"
    yield f"## {sign} {totals.reached} of {totals.specifications} specifications reached"
    yield ""
    yield from (plain(line) for line in totals_text(totals).splitlines())
    told = [item for item in summary.outcomes if item.kind not in _QUIET]
    if told:
        yield ""
        yield "| | specification | came to | tests | why not better |"
        yield "|---|---|---|---:|---|"
        yield from (_row(item) for item in told[:_MOST])
        if len(told) > _MOST:
            yield f"| | and {len(told) - _MOST} more | | | |"
    yield from folded("as they were", [_name(item) for item in summary.outcomes if _quiet(item)])
    yield from folded("not run", [code(name) for name in summary.not_run])


def _row(item: BatchOutcome) -> str:
    sign = SIGN[item.verdict] if item.verdict else "✗"
    came_to = item.verdict if item.kind in ("reached", "missed") else item.kind
    tests = item.tests or ""
    return f"| {sign} | {code(item.id)} | {came_to} | {tests} | {plain(item.reason)} |"


def _quiet(item: BatchOutcome) -> bool:
    return item.kind in _QUIET


def _name(item: BatchOutcome) -> str:
    return f"{code(item.id)} ({item.verdict})" if item.verdict else code(item.id)


def folded(what: str, names: Sequence[str]) -> Iterator[str]:
    """A list that opens on a click; nothing where it is empty."""
    if not names:
        return
    yield ""
    yield f"<details><summary>{len(names)} {what}</summary>"
    yield ""
    yield from (f"- {name}" for name in names[:_MOST])
    if len(names) > _MOST:
        yield f"- and {len(names) - _MOST} more"
    yield ""
    yield "</details>"


def batch_junit(summary: BatchSummary) -> str:
    """One case a specification: a failure where it got nowhere near, an error where its run broke
    off or was refused, skipped where the batch did not get to it."""
    left = {"message": "the batch did not get to it"}
    cases = [_case(item) for item in summary.outcomes]
    cases += [case(name, skipped=left) for name in summary.not_run]
    return suites("greenloop batch", cases, summary.totals.seconds)


def _case(item: BatchOutcome) -> Xml.Element:
    if not item.exit_status:
        return case(item.id, item.seconds)
    told = {"message": item.reason or item.kind, "type": item.kind}
    if item.kind == "missed":
        return case(item.id, item.seconds, failure=told)
    return case(item.id, item.seconds, error=told)
