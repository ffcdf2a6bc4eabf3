"""A grade as text: the verdict, a line for each piece of evidence, and remedies for shortfalls."""

from collections.abc import Iterator

from greenloop.records import Evidence, Report
from greenloop.records.evidence.answers import COMPARES_NOTHING
from greenloop.reporting.escaping import sanitize_line
from greenloop.reporting.evidence.differences import list_differences, render_difference
from greenloop.reporting.evidence.survivors import (
    build_survivor_row,
    format_survivor_rows,
    get_mutated_line,
    list_survivors,
)
from greenloop.reporting.summary import format_test_counts, pluralize

_RUN_HERE = "use an environment in which they are not skipped, or add tests that run here"
# Remedies by a part of the reason. They come first: the cause says more than the piece's name.
_CAUSES = {
    "no test is new": "add a test of the change",
    "no new test passes here": _RUN_HERE,
    "cannot be parsed by": "install greenloop with a Python that can parse it",
    "no test imports": "import them in a test",
    "no mutants were requested": "leave out --mutants 0",
    "do not pass twice": "make the tests independent of each other",
    "out of time": "raise GREENLOOP_GRADING_SECONDS, in a project give --mutants all, or use faster tests",
    "nothing that a mutant could change": "",
    "no function is changed": "",
    "lines have no statement": "",
    "not measured": "",
}
# Remedies by the beginning of the reason. Reasons that name their own remedy are not listed.
_REMEDIES = {
    "mutants": "add the tests that are missing: one for each fault that no test notices",
    "lines": "add tests that run the remaining lines",
    "branches": "add tests that run the remaining branches",
    "empty bodies": "assert on what the functions return",
    "assertion mutation": "compare with expected values: assert f(x) == value",
    "isolation": "give the tests plain calls with expected values",
    "memorization": "test with more inputs, or say in the text which inputs matter",
    "held-out examples: none": "add calls with their results to the text, such as f(1) -> 2",
    "held-out examples": "compare the examples with the text, and state it more clearly",
    "second implementation: no second": "give the text (check --spec) and leave out --no-peer",
    "second implementation: only": "describe in the text what the functions are called with, or run again",
    "second implementation: the code is far slower": "make it faster on this input",
    "second implementation": "say in the text which of the two answers is right",
    "without the code": "let greenloop write the tests, which are first run without the code",
    "files that are not": "install greenloop with a Python that can parse them",
    "flakiness": "make the tests independent of time, randomness and order",
    "integrity": "remove this construct from the code",
    "requirements without": "say in the text how a caller sees the requirement, or give a test with --tests",
    "tests that return": "assert the value instead of returning it",
    "the text asks for more": "remove it from the text, or make it in a separate run",
    "no test ran": _RUN_HERE,
    "no baseline": "run the project's tests with pytest, and fix what fails",
    "forged": "read the code: it makes tests pass without being right",
    "stuck": "state the text more clearly, or name another model with --fallback-model",
    "nothing to grade": "greenloop check --all grades every module",
    "patches": "add the test that is missing, and heal again",
    "not repaired": "allow more with --max-repairs, or continue with `greenloop resume`",
    "ended early: grading": "continue with `greenloop resume`; a check is run again",
}


def find_remedy(reason: str) -> str:
    """Return the remedy for a reason; '' if the reason names it itself."""
    found = [text for cause, text in _CAUSES.items() if cause in reason]
    found += [text for start, text in _REMEDIES.items() if reason.startswith(start)]
    return next(iter(found), "")


_MAX_SURVIVORS, _WIDTH, _MAX_STEPS = 8, 100, 3
_MAX_LINE_CHARS = 400
# Names of evidence for lines that have no text to explain them.
_PLAIN_NAMES = {
    "empty bodies": "without function bodies",
    "assertion mutation": "changed expected values",
    "isolation": "in separate processes",
    "memorization": "memorized answers",
    "mutants": "faults noticed",
    "integrity": "forgery",
}


def render_grade(report: Report) -> str:
    """Return verdict, tests, evidence and survivors, with untrusted text escaped."""
    return "".join(f"{sanitize_line(line)[:_MAX_LINE_CHARS]}\n" for line in _grade_lines(report))


def render_evidence_lines(evidence: Evidence) -> Iterator[str]:
    """Yield one line for each row: `ok`, `short` or `--` (not measured), and what was measured."""
    for row in evidence.summary():
        sign = {True: "ok   ", False: "SHORT", None: "--   "}[row.reached]
        yield f"  {sign}  {row.name:<18} {row.text}"


def summarize_evidence(evidence: Evidence) -> str:
    """Return in one line the results below their threshold, and the number of the others."""
    rows = [row for row in evidence.summary() if row.brief]
    short = [
        f"{_PLAIN_NAMES.get(row.name, row.name)} {row.brief}" for row in rows if not row.reached
    ]
    if not short:
        return f"all {pluralize(len(rows), 'measurement')} reach their threshold"
    return f"below the threshold: {', '.join(short)}; {len(rows) - len(short)} others reach it"


def brief_results(evidence: Evidence) -> dict[str, str]:
    """Return the brief results of the evidence by plain names."""
    rows = (row for row in evidence.summary() if row.brief)
    return {_PLAIN_NAMES.get(row.name, row.name): row.brief for row in rows}


def _grade_lines(report: Report) -> Iterator[str]:
    yield (
        f"{report.verdict}: {format_test_counts(report)}, {report.timings.total_s:.1f} s"
        f"{_name_shortfalls(report)}"
    )
    steps = list_first_steps(report)
    yield from (f"  {number}. {line}" for number, line in enumerate(steps, 1))
    shown = {row.name for row in report.evidence.summary()} if report.evidence.is_graded else set()
    if report.evidence.is_graded:
        yield from render_evidence_lines(report.evidence)
        if not report.evidence.read_against_text:
            yield "  --     text               no text was given: nothing says what the code should do"
        yield from (f"  {line}" for line in render_survivors(report.evidence))
        yield from (f"  {line}" for line in _render_differences(report.evidence))
    for reason in report.reasons:
        if reason.partition(":")[0] not in shown and not any(
            step.startswith(reason) for step in steps
        ):
            yield f"  not verified: {reason}"
    if report.artifacts.report:
        yield f"  report: {report.artifacts.report}"


def _name_shortfalls(report: Report) -> str:
    """Return the names of the pieces that keep a green run from `verified`."""
    if report.verdict != "passed":
        return ""
    names = dict.fromkeys(item.partition(":")[0] for item in report.reasons)
    shortfalls = ", ".join(names)
    return f"; {'' if shortfalls == 'nothing to grade' else 'short of verified: '}{shortfalls}"


def list_first_steps(report: Report) -> list[str]:
    """Return at most three steps to a better verdict; survivors come first if mutants are short."""
    if report.verdict == "verified":
        return []
    survived = list_survivors(report.evidence) if report.verdict == "passed" else ()
    rows = {(row.place, row.missing): row for row in map(build_survivor_row, survived)}
    concrete_first = sorted(rows.values(), key=lambda row: "no test with " not in row.missing)
    faults = [f"add a test for {row.place}: {row.advice}" for row in concrete_first]
    are_short = any(reason.startswith("mutants") for reason in report.reasons)
    others = [
        f"{reason} → {remedy}" if (remedy := find_remedy(reason)) else reason
        for reason in report.reasons
        if not (faults and reason.startswith("mutants"))
    ]
    idle = list(_name_idle_tests(report.evidence))
    return [*idle, *(faults + others if are_short else others + faults)][:_MAX_STEPS]


def _name_idle_tests(evidence: Evidence) -> Iterator[str]:
    """Yield a step for the first test that compares nothing."""
    tests = evidence.isolated.not_observable if evidence.isolated else ()
    for item in [item for item in tests if item.reason == COMPARES_NOTHING][:1]:
        yield f"{item.test} (line {item.line}) compares no result: assert what the code returns"


def render_survivors(evidence: Evidence) -> Iterator[str]:
    """Yield a line for each surviving mutant, and for each one that does not count."""
    survived = list_survivors(evidence)
    if survived:
        yield f"{pluralize(len(survived), 'fault')} that no test notices:"
    yield from (f"  {row}" for row in format_survivor_rows(survived[:_MAX_SURVIVORS], _WIDTH - 4))
    if len(survived) > _MAX_SURVIVORS:
        yield f"  and {len(survived) - _MAX_SURVIVORS} more, see the report"
    for apart in evidence.mutation.equivalent[:_MAX_SURVIVORS] if evidence.mutation else ():
        yield f"not counted: line {apart.line} as `{get_mutated_line(apart)}`: {apart.reason}"


def _render_differences(evidence: Evidence) -> Iterator[str]:
    for item in list_differences(evidence):
        yield "a second implementation differs:"
        yield from (f"  {line}" for line in render_difference(item, _WIDTH - 4))
        yield f"    {'ruling':<23}{item.outcome}"
