"""Grading of the changed lines of a project."""

from greenloop.project.grading.grader import ChangedLines, grade_lines

__all__ = ["ChangedLines", "grade_lines"]
