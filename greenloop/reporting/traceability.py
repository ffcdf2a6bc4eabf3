"""Traceability matrix: requirements × tests × attempts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from greenloop.records import Attempt, Report, TestEntry

_MAX_TESTS = 400
_MAX_REQUIREMENTS = 24
_MAX_ATTEMPTS = 12
_EXCLUDED_OUTCOMES = ("dropped", "invalid", "not run", "skipped", "xfailed")


def classify_outcome(outcome: str) -> str:
    """Return `ok`, `bad`, `aside` (does not count), or `none` (not present)."""
    if outcome in ("", "passed"):
        return "ok" if outcome else "none"
    return "aside" if outcome in _EXCLUDED_OUTCOMES else "bad"


class Cell(NamedTuple):
    """One outcome, as a mark and in words; `test` is the id of its test, where that matters."""

    state: str
    description: str
    test: str = ""

    @property
    def mark(self) -> str:
        return {"ok": "✓", "bad": "✗", "aside": "–", "none": "·"}[self.state]


class TestRow(NamedTuple):
    """A test: which requirements it covers, its outcome in each attempt and at the end."""

    name: str
    file: str
    entry: TestEntry
    covers: tuple[bool, ...]
    attempt_cells: tuple[Cell, ...]
    final_cell: Cell


class RequirementRow(NamedTuple):
    """A requirement with the tests that cover it."""

    id: str
    text: str
    tests: tuple[Cell, ...]
    omitted_count: int
    passed: int
    total: int


class TraceabilityMatrix(NamedTuple):
    """The matrix; `left_out` tests are not in it, passing ones first."""

    requirements: tuple[str, ...]
    attempts: tuple[Attempt, ...]
    rows: tuple[TestRow, ...]
    left_out: int


def build_traceability_matrix(report: Report) -> TraceabilityMatrix:
    """Build the matrix; it has no requirements or attempts where the report has none."""
    named = {name for item in report.tests for name in item.requirements}
    contract = report.contract
    ids = tuple(item.id for item in contract.requirements) if contract else tuple(sorted(named))
    shown = ids if len(ids) <= _MAX_REQUIREMENTS else ()
    attempts = tuple(item for item in report.attempts if item.outcomes)[-_MAX_ATTEMPTS:]
    chosen: Sequence[TestEntry] = report.tests
    if len(chosen) > _MAX_TESTS:  # those that did not pass come first
        chosen = sorted(chosen, key=lambda item: item.outcome == "passed")[:_MAX_TESTS]
    rows = tuple(_build_row(item, shown, attempts) for item in chosen)
    return TraceabilityMatrix(shown, attempts, rows, len(report.tests) - len(chosen))


def build_requirement_rows(report: Report, max_tests: int = 120) -> tuple[RequirementRow, ...]:
    """Build a row for each requirement of the contract, with its active tests."""
    active = [item for item in report.tests if item.outcome not in ("dropped", "invalid")]
    rows = []
    for item in report.contract.requirements if report.contract else ():
        tests = [test for test in active if item.id in test.requirements]
        cells = tuple(
            _build_cell(test.outcome, short_name(test.id), test.id) for test in tests[:max_tests]
        )
        passed = sum(test.outcome == "passed" for test in tests)
        more = max(0, len(tests) - max_tests)
        rows.append(RequirementRow(item.id, item.text, cells, more, passed, len(tests)))
    return tuple(rows)


def names_no_requirement(entry: TestEntry) -> bool:
    """Return whether a test of the model's says nowhere what it proves."""
    return entry.origin in ("generated", "hardening") and not entry.requirements


def short_name(test: str) -> str:
    """Return a test's id without its file."""
    return test.partition("::")[2] or test


def _build_row(
    entry: TestEntry, requirements: Sequence[str], attempts: Sequence[Attempt]
) -> TestRow:
    return TestRow(
        name=short_name(entry.id),
        file=entry.id.partition("::")[0],
        entry=entry,
        covers=tuple(name in entry.requirements for name in requirements),
        attempt_cells=tuple(
            _build_cell(item.outcomes.get(entry.id, ""), f"attempt {item.n}") for item in attempts
        ),
        final_cell=_build_cell(entry.outcome, "at the end"),
    )


def _build_cell(outcome: str, label: str, test: str = "") -> Cell:
    return Cell(classify_outcome(outcome), f"{label}: {outcome or 'not present'}", test)
