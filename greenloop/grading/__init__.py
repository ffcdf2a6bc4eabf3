"""What a green is worth.

evidence = grade(box, code, test_code)
"""

from greenloop.grading.grading import Thresholds, grade

__all__ = ["Thresholds", "grade"]
