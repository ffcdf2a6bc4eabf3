"""Expressions and statements built from what is in scope, tried where no common repair helps.

The operators of `operators` propose what developers often change. Here, each expression is combined
with or replaced by others of its function, conditions are built from comparisons of variables, and
statements are built from calls that the module makes. Most of these edits make no sense: they cost
more, and those that use a variable in a role that it has elsewhere come first.
"""

from __future__ import annotations

from greenloop.repair.context import CandidateEdit
from greenloop.repair.synthesis.conditions import (
    change_condition,
    filter_items,
    make_conditional,
    restrict_statement,
)
from greenloop.repair.synthesis.expressions import (
    add_argument,
    combine_variables,
    combine_with_variable,
    measure_container,
    replace_any_arithmetic,
    replace_by_known,
    replace_number,
    wrap_in_call,
)
from greenloop.repair.synthesis.statements import (
    build_guard,
    build_statement,
)
from greenloop.syntax.operators import Operator

WIDE_OPERATORS: tuple[Operator[CandidateEdit], ...] = (
    *(combine_with_variable, wrap_in_call, replace_by_known, combine_variables),
    *(replace_number, measure_container),
    *(replace_any_arithmetic, change_condition, filter_items, build_statement, add_argument),
)
WIDEST_OPERATORS = (restrict_statement, make_conditional, build_guard)
