"""What `verify` found, for a pull request, a job's summary, and a reader of JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from greenloop.records import Verified
from greenloop.reporting.formats.junit import case, suites
from greenloop.reporting.formats.markdown import code, plain

_MOST = 500  # lines; a job's summary on GitHub takes 1 MiB


def verified_markdown(results: Sequence[Verified]) -> str:
    """What drifted, one line each; what holds is counted."""
    return "\n".join(_lines(results)) + "\n"


def _lines(results: Sequence[Verified]) -> Iterator[str]:
    held = sum(not item.drift for item in results)
    yield f"## {'✓' if held == len(results) else '✗'} {held} of {len(results)} locks hold"
    drift = [f"- {code(item.lock)}: {plain(line)}" for item in results for line in item.drift]
    if drift:
        yield ""
        yield from drift[:_MOST]
    if len(drift) > _MOST:
        yield f"- and {len(drift) - _MOST} more"


def verified_junit(results: Sequence[Verified]) -> str:
    """One case a lock file: a failure where code, tests, specification or grade drifted."""
    cases = [
        (
            case(item.lock, failure={"message": "; ".join(item.drift), "type": "drift"})
            if item.drift
            else case(item.lock)
        )
        for item in results
    ]
    return suites("greenloop verify", cases)
