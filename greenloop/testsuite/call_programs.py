"""Programs of calls over the names of a module: expressions, or statements that end in one."""

from __future__ import annotations

from collections.abc import Sequence


def build_call_programs(calls: Sequence[str]) -> str:
    """Return the text that observes each call in a row of its own."""
    rows = [(item,) for item in calls]
    return f'programs = [(create_calls__("", ()).answer_steps, (), {rows})]\n'
