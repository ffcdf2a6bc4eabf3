"""Programs of tests: what a straight-line test calls, and what it expects of each answer."""

from greenloop.testsuite.programs.records import (
    Expectation,
    NotObserved,
    Program,
    ProgramFile,
)
from greenloop.testsuite.programs.writing import build_programs

__all__ = [
    "Expectation",
    "NotObserved",
    "Program",
    "ProgramFile",
    "build_programs",
]
