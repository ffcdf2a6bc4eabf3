"""Grading: what a green test run is worth.

evidence = grade(box, code, test_code)

Names are loaded when they are asked for: a part of a grade needs little of the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greenloop.grading.context import GradingContext
    from greenloop.grading.grader import forgery, grade, shortfalls
    from greenloop.grading.plan import Plan
    from greenloop.records import ExtraEvidence, Thresholds

__all__ = [
    "ExtraEvidence",
    "GradingContext",
    "Plan",
    "Thresholds",
    "forgery",
    "grade",
    "shortfalls",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    homes = {"ExtraEvidence": "records", "Thresholds": "records"}
    homes |= {"GradingContext": "grading.context", "Plan": "grading.plan"}
    return getattr(import_module(f"greenloop.{homes.get(name, 'grading.grader')}"), name)
