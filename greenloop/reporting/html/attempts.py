"""Attempts of a run for the HTML page, each with its cause and its diff."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.records import Attempt, Failure, Report
from greenloop.reporting.escaping import truncate

_MAX_COMPARED_LINES = 3000
_MAX_DIFF_LINES = 800
_MAX_LINE_LENGTH = 400
_CAUSES = {
    "generate": "written from the contract, without the tests",
    "free-fix": "repaired without a model",
    "rewrite": "rewritten from the contract: the repairs made no progress",
}
_OTHER_SOURCES = {
    "heal": "as it was given",
    "check": "as it was given",
    "script": "written from the task",
}

DiffLine = tuple[str, str]  # its kind, which is `add`, `del`, `at` or `same`, and its text


@dataclass(frozen=True, slots=True)
class AttemptView:
    """An attempt with its cause: failures of an earlier attempt, or a sentence."""

    attempt: Attempt
    cause: str
    failures: Sequence[Failure]
    diff: tuple[DiffLine, ...]
    is_final: bool

    @property
    def name(self) -> str:
        """The kind of the attempt, or `as given` for code that no model wrote."""
        is_given = self.attempt.kind == "generate" and not self.attempt.tokens
        return "as given" if is_given else self.attempt.kind

    @property
    def has_run(self) -> bool:
        return self.attempt.passed is not None

    @property
    def is_green(self) -> bool:
        return self.has_run and not (self.attempt.failed or self.attempt.errors)


def build_attempt_views(report: Report) -> tuple[AttemptView, ...]:
    """Build the views of all attempts in order."""
    by_number = {item.n: item for item in report.attempts}
    return tuple(
        _build_attempt_view(item, by_number.get(item.based_on or 0), report)
        for item in report.attempts
    )


def _build_attempt_view(attempt: Attempt, base: Attempt | None, report: Report) -> AttemptView:
    causes = base.failures if base and attempt.kind in ("repair", "rewrite") else ()
    return AttemptView(
        attempt=attempt,
        cause=_describe_cause(attempt, base, report),
        failures=causes,
        diff=tuple(_diff_lines(base, attempt)) if base else (),
        is_final=bool(attempt.code) and attempt.code == report.final_code,
    )


def _describe_cause(attempt: Attempt, base: Attempt | None, report: Report) -> str:
    if attempt.kind == "generate" and report.command in _OTHER_SOURCES:
        return _OTHER_SOURCES[report.command]
    if attempt.kind == "generate" and report.road == "plain":
        return "written from the text"
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
        yield "at", "too long for a diff"
        return
    lines = list(difflib.unified_diff(before, after, lineterm="", n=3))[2:]
    for line in lines[:_MAX_DIFF_LINES]:
        kind = {"+": "add", "-": "del", "@": "at"}.get(line[:1], "same")
        yield kind, truncate(line, _MAX_LINE_LENGTH)
    if len(lines) > _MAX_DIFF_LINES:
        yield "at", f"and {len(lines) - _MAX_DIFF_LINES} more lines"
