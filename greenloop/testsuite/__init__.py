"""Tests as text: parsing, quality gates, stubs, and the suite of a run."""

from greenloop.testsuite.suite import DroppedTest, Suite, TestFile, read_conftest

__all__ = ["DroppedTest", "Suite", "TestFile", "read_conftest"]
