"""Attempts of a run: why each was made, and what it changed."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.records import Attempt, Failure, Report
from greenloop.reporting.escaping import truncate
from greenloop.reporting.traceability import short_name

_MAX_COMPARED_LINES = 3000
_MAX_DIFF_LINES = 800
_MAX_FAILURES = 8
_MAX_EXPANDED_LINES = 80  # a longer diff is collapsed
_MAX_LINE_LENGTH = 400
_CAUSES = {
    "generate": "written from the contract, without sight of the tests",
    "free-fix": "repaired without a model",
    "rewrite": "rewritten from the contract: the repairs made no progress",
}


@dataclass(frozen=True)
class DiffLine:
    """A line of a diff; `kind` is `add`, `del`, `at` or `same`."""

    kind: str
    text: str


@dataclass(frozen=True)
class FailureView:
    """A failure with the test's short name and the last frame in the run's files."""

    test: str
    failure: Failure
    location: str


@dataclass(frozen=True)
class AttemptView:
    """An attempt with its cause: failures of an earlier attempt, or a sentence."""

    attempt: Attempt
    cause: str
    failures: tuple[FailureView, ...]
    omitted_count: int
    diff: tuple[DiffLine, ...]
    is_collapsed: bool
    is_final: bool

    @property
    def has_run(self) -> bool:
        return self.attempt.passed is not None

    @property
    def is_green(self) -> bool:
        return self.has_run and not (self.attempt.failed or self.attempt.errors)


def build_attempt_views(report: Report) -> tuple[AttemptView, ...]:
    """Build the views of all attempts in order."""
    by_number = {item.n: item for item in report.attempts}
    return tuple(_build_attempt_view(item, by_number, report) for item in report.attempts)


def build_failure_views(failures: Sequence[Failure], limit: int = 30) -> tuple[FailureView, ...]:
    """Build the views of the first failures."""
    return tuple(
        FailureView(short_name(item.test), item, _format_location(item))
        for item in failures[:limit]
    )


def _build_attempt_view(
    attempt: Attempt, by_number: dict[int, Attempt], report: Report
) -> AttemptView:
    base = by_number.get(attempt.based_on or 0)
    causes = base.failures if base and attempt.kind in ("repair", "rewrite") else ()
    diff = tuple(_diff_lines(base, attempt)) if base else ()
    return AttemptView(
        attempt=attempt,
        cause=_describe_cause(attempt, base, report),
        failures=build_failure_views(causes, _MAX_FAILURES),
        omitted_count=max(0, len(causes) - _MAX_FAILURES),
        diff=diff,
        is_collapsed=len(diff) > _MAX_EXPANDED_LINES,
        is_final=bool(attempt.code) and attempt.code == report.final_code,
    )


def _describe_cause(attempt: Attempt, base: Attempt | None, report: Report) -> str:
    if attempt.kind in _CAUSES:
        return _CAUSES[attempt.kind]
    if attempt.kind == "review-repair":
        errors = [item.message for item in report.review if item.severity == "error"]
        return "the review found: " + "; ".join(errors) if errors else "after the review"
    if base and base.ending not in ("", "finished"):
        return f"attempt {base.n} ended: {base.ending}: {base.detail}"
    return f"attempt {base.n} failed:" if base and base.failures else "the attempt before failed"


def _diff_lines(base: Attempt, attempt: Attempt) -> Iterator[DiffLine]:
    before, after = base.code.split("\n"), attempt.code.split("\n")
    if not (base.code and attempt.code):
        return
    if max(len(before), len(after)) > _MAX_COMPARED_LINES:
        yield DiffLine("at", "too long for a diff")
        return
    lines = list(difflib.unified_diff(before, after, lineterm="", n=3))[2:]
    for line in lines[:_MAX_DIFF_LINES]:
        kind = {"+": "add", "-": "del", "@": "at"}.get(line[:1], "same")
        yield DiffLine(kind, truncate(line, _MAX_LINE_LENGTH))
    if len(lines) > _MAX_DIFF_LINES:
        yield DiffLine("at", f"and {len(lines) - _MAX_DIFF_LINES} more lines")


def _format_location(failure: Failure) -> str:
    if not failure.frames:
        return ""
    last = failure.frames[-1]
    return f"{last.file}:{last.line} in {last.function}"
