"""Loader of evaluation tasks: JSON Lines, a JSON array, a folder, or the format of a plugin."""

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from greenloop.errors import InputError
from greenloop.evals.datasets.evalplus import EvalPlusLine, parse_evalplus_task
from greenloop.evals.datasets.exercism import exercise_id, find_exercises, read_exercism_task
from greenloop.evals.datasets.humaneval import HumanEvalLine, parse_humaneval_task
from greenloop.evals.datasets.mbpp import MbppLine, parse_mbpp_task
from greenloop.evals.task import EvalTask
from greenloop.files import decode_text, read_bounded, read_text
from greenloop.plugins import list_plugins, load_plugin
from greenloop.records import Record
from greenloop.testsuite.module_under_test import find_imported_module

_MAX_BYTES = 1_000_000_000
_GZIP_MAGIC = b"\x1f\x8b"
_MAX_INT_DIGITS = 4000  # below Python's default limit for int(text)

RawRecord = dict[str, Any]


class LongNumber(str):
    """Integer with more digits than Python converts by default, kept as text."""

    def __repr__(self) -> str:
        return str(self)


def read_records(path: Path) -> Iterator[tuple[str, RawRecord]]:
    """Yield each record with its location for messages.

    Raises InputError: the file cannot be read, or has another format.
    """
    data = read_bounded(path, _MAX_BYTES)
    if data.startswith(_GZIP_MAGIC):  # by content: a browser may have unpacked a .gz file
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path} cannot be read: {error}") from None
    text = decode_text(data, str(path))
    if text.lstrip().startswith("["):
        found = enumerate(_parse_json(text, str(path)), 1)
        yield from (_require_object(item, f"{path}, item {number}") for number, item in found)
        return
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{path}, line {number}"
        if line.strip():
            yield _require_object(_parse_json(line, where), where)


def _parse_json(text: str, where: str) -> Any:
    try:
        return json.loads(text, parse_int=_parse_int)
    except (ValueError, RecursionError) as error:
        hint = "(expected: one JSON object on each line, or one array of objects)"
        raise InputError(f"{where}: not JSON: {error} {hint}") from None


def _parse_int(text: str) -> int | LongNumber:
    return int(text) if len(text) < _MAX_INT_DIGITS else LongNumber(text)


def _require_object(value: Any, where: str) -> tuple[str, RawRecord]:
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected a JSON object with the keys of a task")
    return where, value


class NativeLine(Record):
    """One line. `tests` is the text of a pytest file, or its path relative to the tasks' file."""

    id: str = Field(min_length=1, max_length=200)
    spec: str = Field(min_length=1)
    tests: str = Field(min_length=1)
    module: str | None = None
    entry_point: str | None = Field(None, pattern=r"^[A-Za-z_]\w*$")
    solution: str = ""
    folder: Path = Path()


def parse_native_task(line: NativeLine, where: str) -> EvalTask:
    """Build the task. Raises InputError where the module is unknown or the tests cannot be read."""
    tests, path = line.tests, line.folder / line.tests
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


# By format: the keys that identify it, its record and its parser; specific formats first.
_LINE_FORMATS: dict[
    str, tuple[tuple[str, ...], type[BaseModel], Callable[[Any, str], EvalTask]]
] = {
    "evalplus": (
        ("base_input", "entry_point", "canonical_solution"),
        EvalPlusLine,
        parse_evalplus_task,
    ),
    "mbpp": (("test_list",), MbppLine, parse_mbpp_task),
    "humaneval": (("prompt", "test", "entry_point"), HumanEvalLine, parse_humaneval_task),
    "greenloop": (("id", "spec"), NativeLine, parse_native_task),
}
_EXERCISM = "exercism"
NamedTask = tuple[str, Callable[[], EvalTask]]


class TaskSource:
    """The tasks of a file or folder. `format` is the requested or detected one."""

    def __init__(
        self, path: Path, requested: str = "auto", leave_out: frozenset[str] = frozenset()
    ) -> None:
        """Raises InputError where `path` does not exist, or its format is not known."""
        if not path.exists():
            raise InputError(f"{path} does not exist: name a file of tasks, or a folder")
        self._path, self._leave_out = path, leave_out
        self.format = _find_format(path) if requested == "auto" else requested
        self._list_tasks = _choose_reader(path, self.format)

    def __iter__(self) -> Iterator[EvalTask]:
        """Yield the tasks in order, without those to be left out, which may even be unreadable.

        Raises InputError: a task does not have its format, or one to be left out does not exist.
        """
        unseen = set(self._leave_out)
        for name, read in self._list_tasks():
            if name in self._leave_out:
                unseen.discard(name)
            else:
                yield read()
        if unseen:
            raise InputError(f"--leave-out {min(unseen)}: {self._path} has no task of this id")


def _find_format(path: Path) -> str:
    if path.is_dir():
        return _EXERCISM
    first = next(read_records(path), None)
    if first is None:
        raise InputError(f"{path} has no tasks: one JSON object on each line is expected")
    where, raw = first
    for name, (keys, _, _) in _LINE_FORMATS.items():
        if all(key in raw for key in keys):
            return name
    raise InputError(
        f"{where}: the keys ({', '.join(list(raw)[:8])}) are of no known format; greenloop's own "
        "are id, spec, tests; name another format with --format (humaneval, mbpp, evalplus)"
    )


def _choose_reader(path: Path, format: str) -> Callable[[], Iterator[NamedTask]]:
    if format == _EXERCISM and path.is_dir():
        return partial(_list_exercises, path)
    if format == _EXERCISM:
        raise InputError(f"{path}: --format exercism reads a folder of exercises, this is a file")
    if format in _LINE_FORMATS and path.is_dir():
        raise InputError(f"{path}: --format {format} reads a file, this is a folder")
    if format in _LINE_FORMATS:
        return partial(_list_lines, path, format)
    read: Callable[[Path], Iterable[EvalTask]] | None = load_plugin("greenloop.datasets", format)
    if read is None:
        known = ("auto", *_LINE_FORMATS, _EXERCISM, *list_plugins("greenloop.datasets"))
        raise InputError(f"--format {format} is not known: choose one of {', '.join(known)}")
    return lambda: ((task.id, task.model_copy) for task in read(path))


def _list_exercises(root: Path) -> Iterator[NamedTask]:
    for folder in find_exercises(root):
        yield exercise_id(folder, root), partial(read_exercism_task, folder, root)


def _list_lines(path: Path, format: str) -> Iterator[NamedTask]:
    key = "id" if format == "greenloop" else "task_id"
    for where, raw in read_records(path):
        own = {**raw, "folder": path.parent} if format == "greenloop" else raw
        yield str(raw.get(key, "")), partial(_parse_line, format, own, where)


def _parse_line(format: str, raw: RawRecord, where: str) -> EvalTask:
    _, line, parse = _LINE_FORMATS[format]
    try:
        return parse(line.model_validate(raw), where)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(item) for item in first["loc"]) or "the record"
        raise InputError(f"{where} ({format}): {key}: {first['msg']}") from None
