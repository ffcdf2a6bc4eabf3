"""Repair operators. A module lists its own in OPERATORS, in the order in which they are applied."""

from __future__ import annotations

from greenloop.repair.context import CandidateEdit
from greenloop.repair.operators import (
    calls,
    constants,
    expressions,
    guards,
    insertions,
    names,
    returns_and_raises,
    slices_and_ranges,
    statements,
)
from greenloop.syntax.operators import Operator

OPERATORS: tuple[Operator[CandidateEdit], ...] = (
    *expressions.OPERATORS,
    *constants.OPERATORS,
    *names.OPERATORS,
    *calls.OPERATORS,
    *slices_and_ranges.OPERATORS,
    *returns_and_raises.OPERATORS,
    *statements.OPERATORS,
    *guards.OPERATORS,
    *insertions.OPERATORS,
)
