"""Readers of evaluation tasks that other packages register under `greenloop.datasets`."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from greenloop.errors import InputError
from greenloop.evals.datasets.loader import TaskSource
from greenloop.evals.task import EvalTask, HiddenFile


def read_lines(path: Path) -> Iterator[EvalTask]:
    """Read a format of `id: sentence` lines."""
    for line in path.read_text().splitlines():
        id, _, sentence = line.partition(": ")
        hidden = HiddenFile(name="test_solution.py", code="import solution\n\ndef test(): ...\n")
        yield EvalTask(id=id, spec=sentence, module="solution", tests=(hidden,))


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    entry = EntryPoint("lines", f"{__name__}:read_lines", "greenloop.datasets")
    monkeypatch.setattr(
        "greenloop.plugins.entry_points", lambda group: [entry] if group == entry.group else []
    )
    monkeypatch.setattr(EntryPoint, "load", lambda self: read_lines)
    monkeypatch.chdir(tmp_path)
    Path("tasks.txt").write_text("a: Write a.\nb: Write b.\n")


def test_plugin_reads_tasks_of_its_format() -> None:
    source = TaskSource(Path("tasks.txt"), "lines")
    assert source.format == "lines"
    assert [(task.id, task.spec) for task in source] == [("a", "Write a."), ("b", "Write b.")]


def test_tasks_of_a_plugin_can_be_left_out() -> None:
    rest = TaskSource(Path("tasks.txt"), "lines", frozenset({"a"}))
    assert [task.id for task in rest] == ["b"]
    with pytest.raises(InputError, match="--leave-out c"):
        list(TaskSource(Path("tasks.txt"), "lines", frozenset({"c"})))


def test_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"--format other is not known: .*exercism, lines$"):
        TaskSource(Path("tasks.txt"), "other")
