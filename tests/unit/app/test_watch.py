"""What is watched: a save is seen, and files that no check reads are not."""

import os
from pathlib import Path

import pytest

from greenloop.app.watch import Watched, watch_module
from greenloop.errors import InputError
from greenloop.project.exclusions import list_modules
from greenloop.settings import Settings

CODE = "def f(x):\n    return x\n"
TESTS = "from m import f\n\n\ndef test_f():\n    assert f(1) == 1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(CODE, "utf-8")
    (tmp_path / "test_m.py").write_text(TESTS, "utf-8")
    return tmp_path


def watch(folder: Path) -> Watched:
    return watch_module(folder / "m.py", [folder], Settings(home=folder / "home"), None)


def test_each_save_changes_the_stamp(folder: Path) -> None:
    target = watch(folder)
    stamps = [target.take_stamp()]
    assert target.take_stamp() == stamps[0]
    os.utime(folder / "m.py", ns=(1, 1))
    stamps.append(target.take_stamp())
    (folder / "conftest.py").write_text("", "utf-8")
    stamps.append(target.take_stamp())
    (folder / "m.py").unlink()
    stamps.append(target.take_stamp())
    assert len(set(stamps)) == 4


def test_project_files_below_hidden_and_built_folders_are_not_watched(folder: Path) -> None:
    target = Watched("", lambda: list_modules(folder, folder), check=watch(folder).check)
    before = target.take_stamp()
    for name in (".venv", "__pycache__", "build"):
        (folder / name).mkdir()
        (folder / name / "x.py").write_text("", "utf-8")
    (folder / "loop").symlink_to(folder)
    assert target.take_stamp() == before
    (folder / "sub").mkdir()
    (folder / "sub" / "x.py").write_text("", "utf-8")
    assert len(target.take_stamp()) == len(before) + 1


def test_files_that_cannot_be_checked_are_refused_at_the_start(folder: Path) -> None:
    (folder / "m.py").write_text("def f(:\n", "utf-8")
    with pytest.raises(InputError):
        watch(folder)
    assert not (folder / "home").exists()
