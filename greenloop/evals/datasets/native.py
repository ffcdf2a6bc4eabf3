"""greenloop's own format: `{id, spec, tests}`, optionally `module`, `entry_point`, `solution`."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import Field

from greenloop.errors import InputError
from greenloop.evals.task import EvalTask
from greenloop.files import read_text
from greenloop.records import Record
from greenloop.testsuite.module_under_test import find_imported_module


class NativeLine(Record):
    """One line. `tests` is the text of a pytest file, or its path relative to the tasks' file."""

    id: str = Field(min_length=1, max_length=200)
    spec: str = Field(min_length=1)
    tests: str = Field(min_length=1)
    module: str | None = None
    entry_point: str | None = Field(None, pattern=r"^[A-Za-z_]\w*$")
    solution: str = ""


def parse_native_task(line: NativeLine, where: str, folder: Path) -> EvalTask:
    """Build the task. Raises InputError where the module is unknown or the tests cannot be read."""
    tests, path = line.tests, folder / line.tests
    if "\n" not in tests:
        tests = read_text(path, f"{where}: {path}")
    module = line.module or find_imported_module(tests)
    if module is None:
        raise InputError(
            f"{where} (id {line.id}): the tests import no module of the task: import the tested "
            'names from it, or name it with "module"'
        )
    spec = line.spec
    if line.entry_point and not re.search(rf"`{line.entry_point}|{line.entry_point}\(", spec):
        spec = f"{spec.rstrip()}\n\nThe module must offer `{line.entry_point}`.\n"
    return EvalTask.with_test_file(
        tests, module, id=line.id, spec=spec, solution=line.solution, where=where
    )
