"""A grade as text: the verdict, and each piece of evidence in one line with its threshold."""

from __future__ import annotations

from collections.abc import Iterator

from greenloop.records import Difference, Evidence, Report, Survivor
from greenloop.reporting.escaping import sanitize_line
from greenloop.reporting.summary import format_test_counts

_MAX_SURVIVORS = 6
_MAX_LINE_CHARS = 400


def render_grade(report: Report) -> str:
    """Return verdict, tests, evidence and survivors, with untrusted text escaped."""
    return "".join(f"{sanitize_line(line)[:_MAX_LINE_CHARS]}\n" for line in _grade_lines(report))


def render_evidence_lines(evidence: Evidence) -> Iterator[str]:
    """Yield one line for each row: `ok`, `short` or `--` (not measured), and what was measured."""
    for row in evidence.summary():
        sign = {True: "ok   ", False: "SHORT", None: "--   "}[row.reached]
        yield f"  {sign}  {row.name:<18} {row.text}"


def summarize_evidence(evidence: Evidence) -> str:
    """Return all evidence in one line, without what was not measured."""
    return ", ".join(f"{row.name} {row.brief}" for row in evidence.summary() if row.brief)


def _grade_lines(report: Report) -> Iterator[str]:
    yield f"{report.verdict}: {format_test_counts(report)}, {report.timings.total_s:.1f} s"
    if report.evidence.is_graded:
        yield from render_evidence_lines(report.evidence)
        if not report.evidence.read_against_text:
            yield "  --     text               no text was given: nothing says what the code should do"
        yield from (f"  {line}" for line in render_survivors(report.evidence))
        for item in list_differences(report.evidence):
            yield f"  differs: {item.call}: {item.code}, the peer: {item.peer}: {item.outcome}"
    for reason in report.reasons:
        yield f"  not verified: {reason}"
    if report.artifacts.report:
        yield f"  report: {report.artifacts.report}"


def render_survivors(evidence: Evidence) -> Iterator[str]:
    """Yield the surviving mutants, each with its question, and those that do not count."""
    survived = list_survivors(evidence)
    shown: set[str] = set()
    for item in survived[:_MAX_SURVIVORS]:
        text = f"{item.place} as `{get_mutated_line(item)}`"
        yield f"survived: {text}" + (f" ({item.operator}, {item.id})" if text in shown else "")
        yield f"          {item.question}"
        shown.add(text)
    if len(survived) > _MAX_SURVIVORS:
        yield f"and {len(survived) - _MAX_SURVIVORS} more, see the report"
    for apart in evidence.mutation.equivalent[:_MAX_SURVIVORS] if evidence.mutation else ():
        yield f"not counted: line {apart.line} as `{get_mutated_line(apart)}`: {apart.reason}"


def list_survivors(evidence: Evidence) -> tuple[Survivor, ...]:
    """Return the surviving mutants, none where mutants were not measured."""
    return evidence.mutation.survived if evidence.mutation else ()


def list_differences(evidence: Evidence) -> tuple[Difference, ...]:
    """Return where code and peer differ, nothing where they were not compared."""
    return evidence.peer.differences if evidence.peer else ()


def diff_hunk(survivor: Survivor) -> list[str]:
    """Return the change with the lines around it, without the headers of the diff."""
    lines = survivor.diff.rstrip("\n").split("\n")
    heads = [number for number, line in enumerate(lines) if line.startswith("@@")]
    return lines[heads[0] + 1 :] if heads else lines


def get_mutated_line(survivor: Survivor) -> str:
    """Return the first line that the mutant has instead."""
    lines = (line for line in survivor.diff.split("\n") if line.startswith("+"))
    return next((line[1:].strip() for line in lines if not line.startswith("+++")), "(taken out)")
