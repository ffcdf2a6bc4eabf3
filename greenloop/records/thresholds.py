"""What evidence must reach for `verified`."""

from __future__ import annotations

from pydantic import Field

from greenloop.records.base import Record

Fraction = float


class Thresholds(Record):
    """Shares between 0 and 1 that count as reached, and the seconds that one piece may take.

    Each is a setting (`GREENLOOP_MIN_…`); docs/grading.md has the reason of each default.
    `seconds` is looked at between runs: a run that was begun has its own limit.
    """

    held_out_agreement: Fraction = Field(default=1.0, ge=0, le=1)
    mutation_score: Fraction = Field(default=0.8, ge=0, le=1)
    assertion_mutation: Fraction = Field(default=0.5, ge=0, le=1)
    line_coverage: Fraction = Field(default=0.9, ge=0, le=1)
    branch_coverage: Fraction = Field(default=0.8, ge=0, le=1)
    seconds: float = Field(default=60.0, gt=0)
