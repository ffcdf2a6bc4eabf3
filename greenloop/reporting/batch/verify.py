"""Results of `verify` as Markdown and JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from greenloop.records import LockCheckResult
from greenloop.reporting.formats.junit import junit_case, render_suite
from greenloop.reporting.formats.markdown import code_span, escape_markdown

if TYPE_CHECKING:
    from junitparser import TestCase

_MAX_LINES = 500  # a job summary on GitHub is limited to 1 MiB


def render_verify_markdown(results: Sequence[LockCheckResult]) -> str:
    """Return one line for each difference; locks that hold are counted."""
    return "\n".join(_markdown_lines(results)) + "\n"


def _markdown_lines(results: Sequence[LockCheckResult]) -> Iterator[str]:
    held = sum(not item.drift for item in results)
    yield f"## {'✓' if held == len(results) else '✗'} {held} of {len(results)} locks hold"
    drift = [
        f"- {code_span(item.lock)}: {escape_markdown(line)}"
        for item in results
        for line in item.drift
    ]
    if drift:
        yield ""
        yield from drift[:_MAX_LINES]
    if len(drift) > _MAX_LINES:
        yield f"- and {len(drift) - _MAX_LINES} more"


def render_verify_junit(results: Sequence[LockCheckResult]) -> str:
    """Return one case for each lock file; it fails where code, tests, text or grade drifted."""
    return render_suite("greenloop verify", map(_lock_case, results))


def _lock_case(item: LockCheckResult) -> TestCase:
    if not item.drift:
        return junit_case(item.lock)
    return junit_case(item.lock, 0.0, "failure", "; ".join(item.drift), "drift")
