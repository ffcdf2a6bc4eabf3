"""The programs of a test file."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from greenloop.syntax.parse import parse_or_empty, parse_or_none
from greenloop.testsuite.parser import name_test
from greenloop.testsuite.programs.flattening import Flattener, FlatTest
from greenloop.testsuite.programs.records import (
    NotObserved,
    Program,
    ProgramFile,
    RefusedError,
)
from greenloop.testsuite.programs.source import TestSource
from greenloop.testsuite.programs.writing import ProgramWriter


def build_programs(code: str, module: str, conftest: str = "") -> ProgramFile:
    """Return the programs of a test file; each row of a table is one of its own."""
    tree = parse_or_none(code)
    if tree is None:
        return ProgramFile()
    source = TestSource(tree, parse_or_empty(conftest), module)
    programs: list[Program] = []
    refused: list[NotObserved] = []
    definitions: dict[str, ast.stmt] = {}
    for test, classes in source.tests:
        try:
            flat = list(Flattener(source, test, classes).flatten_rows())
            made = list(_write(flat, source, len(programs)))
        except (RefusedError, LookupError, RecursionError) as error:
            known = error if isinstance(error, RefusedError) else RefusedError("an unusual form")
            name = name_test(test, classes)
            refused.append(NotObserved(name, known.line or test.lineno, known.reason))
            continue
        programs += made
        for item in flat:
            definitions |= item.definitions
    bodies = [item.function for item in programs]
    preamble = source.render_preamble(bodies, definitions.values())
    return ProgramFile(preamble, tuple(programs), tuple(refused))


def _write(tests: list[FlatTest], source: TestSource, start: int) -> Iterator[Program]:
    for number, item in enumerate(tests, start):
        yield ProgramWriter(item, source).write(number)
