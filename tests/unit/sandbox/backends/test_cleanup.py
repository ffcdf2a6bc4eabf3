"""Strays are ended by a mark of their own; folders go whatever was done to them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from greenloop.sandbox.backends.cleanup import kill_stray_processes, remove_folder

NOBODY = 65534


def test_only_processes_with_the_mark_are_ended() -> None:
    marked = subprocess.Popen(["sleep", "60"], env={"HOME": "/x/1"}, start_new_session=True)
    near = subprocess.Popen(["sleep", "60"], env={"HOME": "/x/12", "A": "HOME=/x/1"})
    try:
        kill_stray_processes("HOME=/x/1")
        assert marked.wait(5) == -9
        assert near.poll() is None
    finally:
        for process in (marked, near):
            process.kill()
            process.wait()


def _deep(root: Path) -> None:
    """Deeper than Python's recursion and longer than a path may be."""
    start = os.getcwd()
    os.chdir(root)
    try:
        for _ in range(1500):
            os.mkdir("deep")
            os.chdir("deep")
    finally:
        os.chdir(start)


def _locked(root: Path) -> None:
    inner = root / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    (inner / "file").chmod(0)
    for folder in (inner, inner.parent, root):
        folder.chmod(0)


def _linked(root: Path) -> None:
    (root / "link").symlink_to(root.parent / "outside")


@pytest.mark.parametrize("make", [_deep, _locked, _linked])
def test_a_folder_goes_and_what_it_links_to_stays(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    """In a process of its own without root's rights, where the tests run as root."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root, outside):
        folder.mkdir()
    (outside / "kept").write_text("x")
    child = os.fork()
    if not child:
        os._exit(_made_and_removed(tmp_path, root, make))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not root.exists()
    assert (outside / "kept").exists()


def _made_and_removed(tmp_path: Path, root: Path, make: Callable[[Path], None]) -> int:
    try:
        if os.geteuid() == 0:
            for folder in (tmp_path, root):
                os.chown(folder, NOBODY, NOBODY)
            for parent in tmp_path.parents:
                if parent.name.startswith(("pytest-", "popen-")):
                    parent.chmod(0o755)
            os.setuid(NOBODY)
        make(root)
        remove_folder(root)
    except BaseException as error:
        print(repr(error), flush=True)
        return 1
    return 0


def test_a_folder_that_is_gone_already_is_no_error(tmp_path: Path) -> None:
    remove_folder(tmp_path / "gone")
    assert not (tmp_path / "gone").exists()
