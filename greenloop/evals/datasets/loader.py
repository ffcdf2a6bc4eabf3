"""From what was named on the command line to tasks, whatever their format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from greenloop.errors import InputError
from greenloop.evals.datasets.evalplus import EvalPlusLine, parse_evalplus_task
from greenloop.evals.datasets.exercism import exercise_id, find_exercises, read_exercism_task
from greenloop.evals.datasets.humaneval import HumanEvalLine, parse_humaneval_task
from greenloop.evals.datasets.jsonl import RawRecord, read_records
from greenloop.evals.datasets.mbpp import MbppLine, parse_mbpp_task
from greenloop.evals.datasets.native import NativeLine, parse_native_task
from greenloop.evals.task import EvalTask

Format = Literal["greenloop", "humaneval", "mbpp", "evalplus", "exercism"]
RequestedFormat = Format | Literal["auto"]
# By which keys a record is known, the more telling first, and where its id stands.
_FORMAT_KEYS: dict[Format, tuple[str, ...]] = {
    "evalplus": ("base_input", "entry_point", "canonical_solution"),
    "mbpp": ("test_list",),
    "humaneval": ("prompt", "test", "entry_point"),
    "greenloop": ("id", "spec"),
}


class TaskSource:
    """The tasks of a file or a folder. `format` is the one that was asked for or found."""

    def __init__(
        self,
        path: Path,
        requested: RequestedFormat = "auto",
        leave_out: frozenset[str] = frozenset(),
    ):
        """Raises InputError where there is nothing at `path`, or its format is not known."""
        self._path, self._leave_out = path, leave_out
        if not path.exists():
            raise InputError(
                f"{path} does not exist: name a file of tasks, or an exercise's folder"
            )
        self.format: Format = "exercism" if path.is_dir() else _detect_format(path, requested)
        if requested not in ("auto", self.format):
            raise InputError(f"{path}: --format {requested} is not for a {_file_or_folder(path)}")

    def __iter__(self) -> Iterator[EvalTask]:
        """The tasks, in order, without those to be left out, which need not even be readable.

        Raises:
            InputError: one is not what its format says, or a task to be left out is not there.
        """
        unseen = set(self._leave_out)
        for name, read in self._named_readers():
            if name in self._leave_out:
                unseen.discard(name)
            else:
                yield read()
        if unseen:
            raise InputError(f"--leave-out {min(unseen)}: {self._path} has no task of this id")

    def _named_readers(self) -> Iterator[tuple[str, Callable[[], EvalTask]]]:
        if self._path.is_dir():
            for folder in find_exercises(self._path):
                name = exercise_id(folder, self._path)
                yield name, lambda folder=folder: read_exercism_task(folder, self._path)  # type: ignore[misc]
            return
        for where, raw in read_records(self._path):
            name = str(raw.get("id" if self.format == "greenloop" else "task_id", ""))
            yield name, lambda raw=raw, where=where: self._parse_task(raw, where)  # type: ignore[misc]

    def _parse_task(self, raw: RawRecord, where: str) -> EvalTask:
        try:
            if self.format == "humaneval":
                return parse_humaneval_task(HumanEvalLine.model_validate(raw), where)
            if self.format == "mbpp":
                return parse_mbpp_task(MbppLine.model_validate(raw), where)
            if self.format == "evalplus":
                return parse_evalplus_task(EvalPlusLine.model_validate(raw), where)
            return parse_native_task(NativeLine.model_validate(raw), where, self._path.parent)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(item) for item in first["loc"]) or "the record"
            raise InputError(f"{where} ({self.format}): {key}: {first['msg']}") from None


def _detect_format(path: Path, requested: RequestedFormat) -> Format:
    if requested == "exercism":
        raise InputError(f"{path}: --format exercism is for folders, one an exercise")
    if requested != "auto":
        return requested
    first = next(iter(read_records(path)), None)
    if first is None:
        raise InputError(f"{path} holds no tasks: one JSON object a line is read")
    where, raw = first
    found = next(
        (name for name, keys in _FORMAT_KEYS.items() if all(key in raw for key in keys)), None
    )
    if found is None:
        keys = ", ".join(list(raw)[:8])
        raise InputError(
            f"{where}: the keys ({keys}) are of no known format; greenloop's own are id, spec, "
            "tests; --format names one of humaneval, mbpp, evalplus"
        )
    return found


def _file_or_folder(path: Path) -> str:
    return "folder" if path.is_dir() else "file"
