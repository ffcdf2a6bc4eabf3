"""Stubs of a contract, and the tests whose text shows that they fail on one."""

from greenloop.testsuite.stubs.build import build_stub, with_empty_bodies
from greenloop.testsuite.stubs.failing_tests import find_failing_tests

__all__ = ["build_stub", "find_failing_tests", "with_empty_bodies"]
