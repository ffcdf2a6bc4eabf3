"""Expressions and statements built from what is in scope, tried where no common repair helps.

The operators of `operators` propose what developers often change. Here, each expression is combined
with or replaced by others of its function, conditions are built from comparisons of variables, and
statements are built from calls that the module makes. Most of these edits make no sense: they cost
more, and those that use a variable in a role that it has elsewhere come first.
"""

from __future__ import annotations

from greenloop.repair.context import CandidateEdit
from greenloop.repair.synthesis import conditions, expressions, statements
from greenloop.syntax.operators import Operator

WIDE_OPERATORS: tuple[Operator[CandidateEdit], ...] = (
    *(expressions.combine_with_variable, expressions.wrap_in_call, expressions.replace_by_known),
    *(expressions.combine_variables, expressions.replace_number, expressions.measure_container),
    *(expressions.replace_any_arithmetic, conditions.change_condition, conditions.filter_items),
    *(statements.build_statement, expressions.add_argument),
)
WIDEST_OPERATORS = (
    *(conditions.restrict_statement, conditions.make_conditional, statements.build_guard),
)
