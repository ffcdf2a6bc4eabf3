"""Mutation operators. A module lists its own in OPERATORS, in the order in which they are applied."""

from __future__ import annotations

from greenloop.grading.mutation.operators import calls, control_flow, expressions, literals
from greenloop.syntax.operators import Operator
from greenloop.syntax.source import TextEdit

OPERATORS: tuple[Operator[TextEdit], ...] = (
    *expressions.OPERATORS,
    *literals.OPERATORS,
    *control_flow.OPERATORS,
    *calls.OPERATORS,
)
