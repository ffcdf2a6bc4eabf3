"""Grading: evidence about the code and the tests of a green run.

evidence = grade(box, code, test_code)
"""

from greenloop.grading.context import GradingContext, Plan
from greenloop.grading.grader import forgery, grade, shortfalls
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
