"""Loader of evaluation tasks in any of the known formats, or in one that a plugin reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from greenloop.errors import InputError
from greenloop.evals.datasets.evalplus import EvalPlusLine, parse_evalplus_task
from greenloop.evals.datasets.exercism import exercise_id, find_exercises, read_exercism_task
from greenloop.evals.datasets.humaneval import HumanEvalLine, parse_humaneval_task
from greenloop.evals.datasets.jsonl import RawRecord, read_records
from greenloop.evals.datasets.mbpp import MbppLine, parse_mbpp_task
from greenloop.evals.task import EvalTask
from greenloop.files import read_text
from greenloop.plugins import list_plugins, load_plugin
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


BUILT_IN_FORMATS = ("greenloop", "humaneval", "mbpp", "evalplus", "exercism")
DatasetReader = Callable[[Path], Iterable[EvalTask]]  # what a plugin registers

# Keys by which the first record tells its format; the more specific formats come first.
_FORMAT_KEYS: dict[str, tuple[str, ...]] = {
    "evalplus": ("base_input", "entry_point", "canonical_solution"),
    "mbpp": ("test_list",),
    "humaneval": ("prompt", "test", "entry_point"),
    "greenloop": ("id", "spec"),
}


class TaskSource:
    """The tasks of a file or folder. `format` is the requested or detected one."""

    def __init__(
        self, path: Path, requested: str = "auto", leave_out: frozenset[str] = frozenset()
    ) -> None:
        """Raises InputError where `path` does not exist, or its format is not known."""
        if not path.exists():
            raise InputError(f"{path} does not exist: name a file of tasks, or a folder")
        self._path, self._leave_out = path, leave_out
        self._reader = _load_reader(requested)
        if self._reader is not None:
            self.format = requested
            return
        self.format = "exercism" if path.is_dir() else _detect_format(path, requested)
        if requested not in ("auto", self.format):
            raise InputError(f"{path}: --format {requested} reads a file, this is a folder")

    def __iter__(self) -> Iterator[EvalTask]:
        """Yield the tasks in order, without those to be left out, which may even be unreadable.

        Raises:
            InputError: a task does not have its format, or one to be left out does not exist.
        """
        unseen = set(self._leave_out)
        for name, read in self._name_tasks():
            if name in self._leave_out:
                unseen.discard(name)
            else:
                yield read()
        if unseen:
            raise InputError(f"--leave-out {min(unseen)}: {self._path} has no task of this id")

    def _name_tasks(self) -> Iterator[tuple[str, Callable[[], EvalTask]]]:
        if self._reader is not None:
            for task in self._reader(self._path):
                yield task.id, task.model_copy
        elif self._path.is_dir():
            for folder in find_exercises(self._path):
                name = exercise_id(folder, self._path)
                yield name, partial(read_exercism_task, folder, self._path)
        else:
            for where, raw in read_records(self._path):
                name = str(raw.get("id" if self.format == "greenloop" else "task_id", ""))
                yield name, partial(self._parse_task, raw, where)

    def _parse_task(self, raw: RawRecord, where: str) -> EvalTask:
        parsers: dict[str, tuple[type[BaseModel], Callable[[Any, str], EvalTask]]] = {
            "humaneval": (HumanEvalLine, parse_humaneval_task),
            "mbpp": (MbppLine, parse_mbpp_task),
            "evalplus": (EvalPlusLine, parse_evalplus_task),
            "greenloop": (NativeLine, partial(parse_native_task, folder=self._path.parent)),
        }
        line, parse = parsers[self.format]
        try:
            return parse(line.model_validate(raw), where)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(item) for item in first["loc"]) or "the record"
            raise InputError(f"{where} ({self.format}): {key}: {first['msg']}") from None


def _load_reader(requested: str) -> DatasetReader | None:
    """Return the plugin of this name; None for the built-in formats."""
    if requested in ("auto", *BUILT_IN_FORMATS):
        return None
    reader: DatasetReader | None = load_plugin("greenloop.datasets", requested)
    if reader is None:
        known = ", ".join(("auto", *BUILT_IN_FORMATS, *list_plugins("greenloop.datasets")))
        raise InputError(f"--format {requested} is not known: choose one of {known}")
    return reader


def _detect_format(path: Path, requested: str) -> str:
    if requested == "exercism":
        raise InputError(f"{path}: --format exercism reads a folder of exercises, this is a file")
    if requested != "auto":
        return requested
    first = next(iter(read_records(path)), None)
    if first is None:
        raise InputError(f"{path} has no tasks: one JSON object on each line is expected")
    where, raw = first
    for name, keys in _FORMAT_KEYS.items():
        if all(key in raw for key in keys):
            return name
    raise InputError(
        f"{where}: the keys ({', '.join(list(raw)[:8])}) are of no known format; greenloop's own "
        "are id, spec, tests; name another format with --format (humaneval, mbpp, evalplus)"
    )
