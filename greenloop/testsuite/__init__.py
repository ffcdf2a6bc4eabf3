"""The tests of a run: read, gated, dropped, taken over from the specification."""

from greenloop.testsuite.suite import DroppedTest, Suite, TestFile

__all__ = ["DroppedTest", "Suite", "TestFile"]
