"""`eval.jsonl`: the truth of each task as it comes, read again by the same command."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from greenloop.batch.results import append_line
from greenloop.records.evaluation import TaskResult


class HiddenTestResults:
    """One line a task; of several lines with one id the last one counts. What cannot be read,
    as half a line after a crash, is passed over."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._by_id = {item.id: item for item in _read_results(path)}

    def find_result(self, id: str, sha256: str, tests_sha256: str) -> TaskResult | None:
        """What was found of this specification with these tests; None where it is still open."""
        found = self._by_id.get(id)
        same = found is not None and (found.sha256, found.tests_sha256) == (sha256, tests_sha256)
        return found if same else None

    def append(self, result: TaskResult) -> None:
        """Raises OutputError where the disk does not take it."""
        append_line(self._path, result.model_dump_json())
        self._by_id[result.id] = result

    def select(self, ids: Iterable[str]) -> tuple[TaskResult, ...]:
        """Those that are there, in this order."""
        return tuple(self._by_id[id] for id in ids if id in self._by_id)

    @property
    def all(self) -> tuple[TaskResult, ...]:
        return tuple(self._by_id.values())


def _read_results(path: Path) -> Iterable[TaskResult]:
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                yield TaskResult.model_validate_json(line)
            except (ValidationError, ValueError):
                continue
