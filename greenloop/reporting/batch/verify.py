"""What `verify` found, for a pull request, a job's summary, and a reader of JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from greenloop.records import LockCheckResult
from greenloop.reporting.formats.junit import build_case, render_suites
from greenloop.reporting.formats.markdown import code_span, escape_markdown

_MAX_LINES = 500  # lines; a job's summary on GitHub takes 1 MiB


def render_verify_markdown(results: Sequence[LockCheckResult]) -> str:
    """What drifted, one line each; what holds is counted."""
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
    """One case a lock file: a failure where code, tests, specification or grade drifted."""
    cases = [
        (
            build_case(item.lock, failure={"message": "; ".join(item.drift), "type": "drift"})
            if item.drift
            else build_case(item.lock)
        )
        for item in results
    ]
    return render_suites("greenloop verify", cases)
