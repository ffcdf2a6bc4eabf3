"""Tests that a change makes weaker: removed, skipped, conditional, or asserting less than before."""

from greenloop.project.weakening.comparison import WeakenedTest
from greenloop.project.weakening.matching import find_weakened_tests
from greenloop.project.weakening.names import find_changed_names, find_removed_names

__all__ = [
    "WeakenedTest",
    "find_changed_names",
    "find_removed_names",
    "find_weakened_tests",
]
