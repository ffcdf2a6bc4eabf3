"""Programs of tests: the calls of a straight-line test, and its expectations of the answers."""

from greenloop.testsuite.programs.records import Expectation, Program, ProgramFile
from greenloop.testsuite.programs.writing import build_programs

__all__ = ["Expectation", "Program", "ProgramFile", "build_programs"]
