"""How the code came about: each attempt, why it was made, and what it changed."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.records import Attempt, Failure, Report
from greenloop.reporting.escaping import clipped
from greenloop.reporting.traceability import short_name

_MOST_LINES = 3000  # of a module that is compared
_MOST_DIFF = 800
_MOST_FAILURES = 8
_OPEN = 80  # a longer diff is folded
_LINE = 400


@dataclass(frozen=True)
class DiffLine:
    """A line of a diff; `kind` is `add`, `del`, `at` or `same`."""

    kind: str
    text: str


@dataclass(frozen=True)
class Told:
    """A failure for the eye: the test's name, and where in the run's files it happened."""

    test: str
    failure: Failure
    place: str


@dataclass(frozen=True)
class Step:
    """An attempt with the failures that caused it, or the words for another cause."""

    attempt: Attempt
    cause: str
    failures: tuple[Told, ...]
    more: int
    diff: tuple[DiffLine, ...]
    folded: bool
    final: bool

    @property
    def ran(self) -> bool:
        return self.attempt.passed is not None

    @property
    def green(self) -> bool:
        return self.ran and not (self.attempt.failed or self.attempt.errors)


def steps_of(report: Report) -> tuple[Step, ...]:
    """All attempts in order."""
    by_number = {item.n: item for item in report.attempts}
    return tuple(_step(item, by_number, report) for item in report.attempts)


def told_failures(failures: Sequence[Failure], most: int = 30) -> tuple[Told, ...]:
    """The first failures, each with the last place in the run's own files."""
    return tuple(Told(short_name(item.test), item, _place(item)) for item in failures[:most])


def _step(attempt: Attempt, by_number: dict[int, Attempt], report: Report) -> Step:
    base = by_number.get(attempt.based_on or 0)
    because = base.failures if base and attempt.kind in ("repair", "rewrite") else ()
    diff = tuple(_diff(base, attempt)) if base else ()
    return Step(
        attempt=attempt,
        cause=_cause(attempt, base, report),
        failures=told_failures(because, _MOST_FAILURES),
        more=max(0, len(because) - _MOST_FAILURES),
        diff=diff,
        folded=len(diff) > _OPEN,
        final=bool(attempt.code) and attempt.code == report.final_code,
    )


def _cause(attempt: Attempt, base: Attempt | None, report: Report) -> str:
    if attempt.kind == "generate":
        return "written from the contract, without sight of the tests"
    if attempt.kind == "free-fix":
        return "mended without a model"
    if attempt.kind == "review-repair":
        errors = [item.message for item in report.review if item.severity == "error"]
        return "the review found: " + "; ".join(errors) if errors else "after the review"
    if attempt.kind == "rewrite":
        return "written anew from the contract: the repairs were going in circles"
    if base and base.ending not in ("", "finished"):
        return f"attempt {base.n} ended: {base.ending}: {base.detail}"
    return f"attempt {base.n} failed:" if base and base.failures else "the attempt before failed"


def _diff(base: Attempt, attempt: Attempt) -> Iterator[DiffLine]:
    before, after = base.code.split("\n"), attempt.code.split("\n")
    if not (base.code and attempt.code):
        return
    if max(len(before), len(after)) > _MOST_LINES:
        yield DiffLine("at", "too long to be compared here")
        return
    lines = list(difflib.unified_diff(before, after, lineterm="", n=3))[2:]
    for line in lines[:_MOST_DIFF]:
        kind = {"+": "add", "-": "del", "@": "at"}.get(line[:1], "same")
        yield DiffLine(kind, clipped(line, _LINE))
    if len(lines) > _MOST_DIFF:
        yield DiffLine("at", f"and {len(lines) - _MOST_DIFF} more lines")


def _place(failure: Failure) -> str:
    if not failure.frames:
        return ""
    last = failure.frames[-1]
    return f"{last.file}:{last.line} in {last.function}"
