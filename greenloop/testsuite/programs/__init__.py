"""Programs of tests: what a straight-line test calls, and what it expects of each answer."""

from greenloop.testsuite.programs.build import build_programs
from greenloop.testsuite.programs.records import (
    Expectation,
    NotObserved,
    Program,
    ProgramFile,
)

__all__ = [
    "Expectation",
    "NotObserved",
    "Program",
    "ProgramFile",
    "build_programs",
]
