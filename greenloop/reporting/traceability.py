"""Requirements × tests × attempts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.records import Attempt, Report, TestEntry

_MOST_TESTS = 400
_MOST_REQUIREMENTS = 24
_MOST_ATTEMPTS = 12
_FINE = ("passed",)
_ASIDE = ("dropped", "invalid", "not run", "skipped", "xfailed")


def state_of(outcome: str) -> str:
    """`ok`, `bad`, `aside` (does not count), or `none` (was not there)."""
    if not outcome:
        return "none"
    return "ok" if outcome in _FINE else "aside" if outcome in _ASIDE else "bad"


@dataclass(frozen=True)
class Cell:
    """One outcome: `mark` for the eye, `said` in words."""

    state: str
    said: str

    @property
    def mark(self) -> str:
        return {"ok": "✓", "bad": "✗", "aside": "–", "none": "·"}[self.state]


@dataclass(frozen=True)
class Row:
    """A test: whether it proves each requirement, its outcome in each attempt, and at the end."""

    name: str
    place: str
    entry: TestEntry
    proves: tuple[bool, ...]
    tries: tuple[Cell, ...]
    end: Cell


@dataclass(frozen=True)
class RequirementRow:
    """A requirement with the tests that prove it."""

    id: str
    text: str
    tests: tuple[Cell, ...]
    more: int
    passed: int
    total: int


@dataclass(frozen=True)
class Matrix:
    """The table. `left_out` tests are not shown; failing ones always are, as far as they go."""

    requirements: tuple[str, ...]
    attempts: tuple[Attempt, ...]
    rows: tuple[Row, ...]
    left_out: int


def matrix_of(report: Report) -> Matrix:
    """The matrix of a report; without requirements or attempts where it knows of none."""
    named = _requirement_ids(report)
    shown = named if len(named) <= _MOST_REQUIREMENTS else ()
    attempts = tuple(item for item in report.attempts if item.outcomes)[-_MOST_ATTEMPTS:]
    chosen = _chosen(report.tests)
    rows = tuple(_row(item, shown, attempts) for item in chosen)
    return Matrix(shown, attempts, rows, len(report.tests) - len(chosen))


def requirement_rows(report: Report, most: int = 120) -> tuple[RequirementRow, ...]:
    """Each requirement of the contract, with its tests that still count."""
    counting = [item for item in report.tests if item.outcome not in ("dropped", "invalid")]
    rows = []
    for item in report.contract.requirements if report.contract else ():
        tests = [test for test in counting if item.id in test.requirements]
        cells = tuple(_cell(test.outcome, short_name(test.id)) for test in tests[:most])
        passed = sum(test.outcome == "passed" for test in tests)
        more = max(0, len(tests) - most)
        rows.append(RequirementRow(item.id, item.text, cells, more, passed, len(tests)))
    return tuple(rows)


def short_name(test: str) -> str:
    """A test's id without its file."""
    return test.partition("::")[2] or test


def _row(entry: TestEntry, requirements: Sequence[str], attempts: Sequence[Attempt]) -> Row:
    return Row(
        name=short_name(entry.id),
        place=entry.id.partition("::")[0],
        entry=entry,
        proves=tuple(name in entry.requirements for name in requirements),
        tries=tuple(
            _cell(item.outcomes.get(entry.id, ""), f"attempt {item.n}") for item in attempts
        ),
        end=_cell(entry.outcome, "at the end"),
    )


def _cell(outcome: str, of: str) -> Cell:
    return Cell(state_of(outcome), f"{of}: {outcome or 'not there'}")


def _requirement_ids(report: Report) -> tuple[str, ...]:
    if report.contract:
        return tuple(item.id for item in report.contract.requirements)
    return tuple(sorted({name for item in report.tests for name in item.requirements}))


def _chosen(tests: Sequence[TestEntry]) -> Sequence[TestEntry]:
    """All tests, or where there are too many, those first that did not pass."""
    if len(tests) <= _MOST_TESTS:
        return tests
    return sorted(tests, key=lambda item: item.outcome == "passed")[:_MOST_TESTS]
