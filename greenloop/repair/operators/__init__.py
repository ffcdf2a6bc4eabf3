"""Repair operators, in the order in which they are applied: by module, as they are defined."""

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

_MODULES = (
    *(expressions, constants, names, calls, slices_and_ranges),
    *(returns_and_raises, statements, guards, insertions),
)
OPERATORS: tuple[Operator[CandidateEdit], ...] = tuple(
    item for module in _MODULES for item in vars(module).values() if isinstance(item, Operator)
)
