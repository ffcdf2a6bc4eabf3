"""Scenarios: a test file in two parts, so that the code answers where no expected value is.

The idea is that of a secret held back: what the code answers in a process that has the inputs
alone cannot have been taken from the tests.
"""

from greenloop.testsuite.scenarios.build import build_scenarios, build_whole_tests
from greenloop.testsuite.scenarios.records import NotObservable, Scenario, ScenarioFile, WholeFile

__all__ = [
    "NotObservable",
    "Scenario",
    "ScenarioFile",
    "WholeFile",
    "build_scenarios",
    "build_whole_tests",
]
