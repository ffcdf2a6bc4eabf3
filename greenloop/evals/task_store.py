"""Tasks of an evaluation on disk; only ids and offsets are in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from greenloop.batch.entries import Entry
from greenloop.errors import InputError
from greenloop.evals.task import EvalTask
from greenloop.evals.task_validation import check_task
from greenloop.files import writing


class TaskStore:
    """`tasks.jsonl` in an evaluation's folder, read by id."""

    def __init__(self, path: Path, tasks: Iterable[EvalTask]) -> None:
        """Write the tasks.

        Raises:
            InputError: a task cannot be evaluated, or two have one id.
            OutputError: the file cannot be written.
        """
        self._path = path
        self._locations: dict[str, tuple[int, str]] = {}
        self.entries: tuple[Entry, ...] = ()
        temporary = path.with_suffix(".new")
        with writing(path):
            with temporary.open("wb") as file:
                self.entries = tuple(self._write_task(task, file.tell(), file) for task in tasks)
            os.replace(temporary, path)

    def _write_task(self, task: EvalTask, offset: int, file: IO[bytes]) -> Entry:
        check_task(task)
        if task.id in self._locations:
            raise InputError(f"{task.where}: a second task has the id {task.id}")
        self._locations[task.id] = offset, task.tests_sha256
        file.write(task.model_dump_json().encode() + b"\n")
        return Entry(id=task.id, text=task.spec, source=task.where, module=task.module)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[EvalTask]:
        return map(self.read_task, self._locations)

    def read_task(self, id: str) -> EvalTask:
        with self._path.open("rb") as file:
            file.seek(self._locations[id][0])
            return EvalTask.model_validate_json(file.readline())

    def tests_sha256(self, id: str) -> str:
        """Return the digest of a task's hidden tests."""
        return self._locations[id][1]
