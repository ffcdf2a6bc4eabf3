"""Delivery of a change that breaks off: the project is as it was."""

import errno
import subprocess
from pathlib import Path
from typing import Any

import pytest

from greenloop.errors import OutputError
from greenloop.project.patch import diff_files
from greenloop.records import Change, Report
from greenloop.workflow.change import delivery
from greenloop.workflow.change.request import ChangeRequest
from greenloop.workflow.kind import Consent
from greenloop.workflow.storage.run_dir import RunDirectory
from tests.support.reports import build_make_report

BEFORE = {"a.py": "a = 1\n", "b.py": "b = 1\n"}
PATCH = diff_files(BEFORE, {"a.py": "a = 2\n", "b.py": "b = 2\n", "new/c.py": "c = 2\n"})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    for path, text in BEFORE.items():
        (root / path).write_text(text)
    return root


CONSENT = Consent(False, lambda path, text: False, None, print)


def deliver(project: Path, report: Report, **fields: Any) -> Report:
    directory = RunDirectory.create(project.parent / "home", "x", None)
    request = ChangeRequest(specification="x", root=str(project), **fields)
    return delivery.deliver_change(report, request, directory, CONSENT)


def read_texts(project: Path) -> dict[str, str]:
    return {str(i.relative_to(project)): i.read_text() for i in project.rglob("*.py")}


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "no space"), KeyboardInterrupt()])
@pytest.mark.parametrize("path", ["b.py", "c.py"])
def test_files_are_as_before_where_not_all_can_be_written(
    project: Path, monkeypatch: pytest.MonkeyPatch, path: str, error: BaseException
) -> None:
    replace = delivery.replace_atomically

    def break_off(target: Path, content: bytes, mode: int) -> None:
        if target.name == path and b"2" in content:
            raise error
        replace(target, content, mode)

    monkeypatch.setattr(delivery, "replace_atomically", break_off)
    with pytest.raises((OutputError, KeyboardInterrupt)):
        deliver(project, build_make_report(final_code=PATCH), apply=True)
    assert read_texts(project) == BEFORE


def test_interrupted_commit_leaves_neither_worktree_nor_branch(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    for command in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "first")):
        subprocess.run(["git", *command], cwd=project, check=True)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(delivery, "_commit_in", interrupt)
    report = build_make_report(final_code=PATCH, change=Change(base="HEAD"))
    with pytest.raises(KeyboardInterrupt):
        deliver(project, report, branch="wish")
    for what in ("worktree", "branch"):
        listed = subprocess.run(
            ["git", what, "list" if what == "worktree" else "--list"],
            cwd=project,
            capture_output=True,
            text=True,
            check=True,
        )
        assert "wish" not in listed.stdout
    assert read_texts(project) == BEFORE
