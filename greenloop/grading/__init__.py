"""What a green is worth.

evidence = grade(box, code, test_code)
"""

from greenloop.grading.config import Plan
from greenloop.grading.grader import grade
from greenloop.grading.verdict import forgery, shortfalls
from greenloop.records import Thresholds

__all__ = ["Plan", "Thresholds", "forgery", "grade", "shortfalls"]
