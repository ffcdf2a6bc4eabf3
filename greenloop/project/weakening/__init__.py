"""Static detection of tests that a change weakens: removed, skipped, conditional, or looser."""

from greenloop.project.weakening.comparison import WeakenedTest
from greenloop.project.weakening.matching import find_weakened_tests
from greenloop.project.weakening.names import find_changed_names, find_removed_names

__all__ = [
    "WeakenedTest",
    "find_changed_names",
    "find_removed_names",
    "find_weakened_tests",
]
