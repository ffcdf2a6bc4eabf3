"""Results of hidden tests, one line a task, in `eval.jsonl`."""

from __future__ import annotations

from pathlib import Path

from greenloop.batch.results import append_line, read_lines
from greenloop.records.evaluation import TaskResult


class HiddenTestResults:
    """`eval.jsonl`: of several lines with one id the last one counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._by_id = {item.id: item for item in read_lines(path, TaskResult)}

    def find_result(self, id: str, sha256: str, tests_sha256: str) -> TaskResult | None:
        """Return the result of this specification with these tests; None where there is none."""
        found = self._by_id.get(id)
        same = found is not None and (found.sha256, found.tests_sha256) == (sha256, tests_sha256)
        return found if same else None

    def append(self, result: TaskResult) -> None:
        """Raises OutputError where the file cannot be written."""
        append_line(self._path, result.model_dump_json())
        self._by_id[result.id] = result

    @property
    def all(self) -> tuple[TaskResult, ...]:
        return tuple(self._by_id.values())
