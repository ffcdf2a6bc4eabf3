"""Thresholds that evidence must reach for `verified`."""

from pydantic import Field

from greenloop.records.base import Record


class Thresholds(Record):
    """Minimum shares between 0 and 1, and the maximum seconds of one piece.

    Each is a setting (`GREENLOOP_MIN_…`); docs/grading.md gives the reason of each default.
    `seconds` is checked between runs: each run has a limit of its own.
    """

    held_out_agreement: float = Field(default=1.0, ge=0, le=1)
    mutation_score: float = Field(default=0.8, ge=0, le=1)
    assertion_mutation: float = Field(default=0.5, ge=0, le=1)
    isolated: float = Field(default=0.5, ge=0, le=1)
    line_coverage: float = Field(default=0.9, ge=0, le=1)
    branch_coverage: float = Field(default=0.8, ge=0, le=1)
    seconds: float = Field(default=60.0, gt=0)
