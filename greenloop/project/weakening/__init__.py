"""Tests that a change makes weaker: removed, skipped, conditional, or asserting less than before."""

from greenloop.project.weakening.matching import (
    WeakenedTest,
    find_changed_names,
    find_removed_names,
    find_weakened_tests,
)

__all__ = ["WeakenedTest", "find_changed_names", "find_removed_names", "find_weakened_tests"]
