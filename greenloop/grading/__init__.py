"""What a green is worth.

evidence = grade(box, code, test_code)
"""

from greenloop.grading.grading import grade
from greenloop.grading.judging import forgery, shortfalls
from greenloop.grading.plan import Plan
from greenloop.records import Thresholds

__all__ = ["Plan", "Thresholds", "forgery", "grade", "shortfalls"]
