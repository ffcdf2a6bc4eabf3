"""Stand-in for the project's tree and runner."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from greenloop.project.git import find_commit
from greenloop.project.snapshot import take_snapshot
from greenloop.records import Expectation, InputFile, Project, Record, TestRun
from greenloop.sandbox import Sandbox


class Baseline(Record):
    locked: dict[str, str] = {}
    red: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    lines: dict[str, dict[int, tuple[str, ...]]] = {}
    seconds: float = 0.0
    problem: str = ""


@dataclass(frozen=True)
class ProjectTree:
    root: str
    project: Project
    base: str = ""
    is_dirty: bool = False

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.project.model_dump_json().encode()).hexdigest()

    @property
    def module_names(self) -> frozenset[str]:
        return frozenset(
            part for path in self.texts for part in (Path(path).stem, *Path(path).parts[:-1])
        )

    @cached_property
    def texts(self) -> dict[str, str]:
        found = {}
        for item in self.project.files:
            if item.path.endswith(".py"):
                found[item.path] = item.content.decode("utf-8", "replace")
        return found


def read_tree(root: Path) -> ProjectTree:
    return ProjectTree(str(root), take_snapshot(root), find_commit(root))


class ProjectRunner:
    def __init__(self, box: Sandbox, tree: ProjectTree) -> None:
        self.box, self.tree = box, tree

    def run(
        self,
        changed: Mapping[str, str | None],
        tests: Sequence[str] | None = None,
        expected: Expectation | None = None,
    ) -> TestRun:
        gone = {path for path, text in changed.items() if text is None}
        files = tuple(i for i in self.tree.project.files if i.path not in gone)
        overlay = tuple(
            InputFile(path=p, content=t.encode()) for p, t in changed.items() if t is not None
        )
        project = Project(files=files, targets=tuple(tests or ()), overlay=overlay)
        return self.box.run_project(project, expected=expected)

    def measure_baseline(self) -> Baseline:
        first, second = self.run({}), self.run({})
        if first.ending != "finished" or not first.tests:
            return Baseline(problem=first.detail or "no tests were found")
        ok = [{t.id for t in r.tests if t.outcome == "passed"} for r in (first, second)]
        ids = {t.id for t in first.tests}
        return Baseline(
            locked=dict.fromkeys(sorted(ok[0] & ok[1]), ""),
            red=tuple(sorted(ids - ok[0] - ok[1])),
            flaky=tuple(sorted(ok[0] ^ ok[1])),
            seconds=first.duration_s,
        )
