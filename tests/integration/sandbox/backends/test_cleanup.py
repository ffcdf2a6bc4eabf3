"""Cleanup after a run: marked processes are killed, and every folder is removed."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from greenloop.sandbox.backends.cleanup import kill_stray_processes, remove_folder

NOBODY = 65534


def test_only_marked_processes_are_killed() -> None:
    marked = subprocess.Popen(["sleep", "60"], env={"HOME": "/x/1"}, start_new_session=True)
    near = subprocess.Popen(["sleep", "60"], env={"HOME": "/x/12", "A": "HOME=/x/1"})
    try:
        while not all(Path(f"/proc/{i.pid}/environ").read_bytes() for i in (marked, near)):
            time.sleep(0.01)  # exec has not set it yet
        kill_stray_processes("HOME=/x/1")
        assert marked.wait(5) == -9
        assert near.poll() is None
    finally:
        for process in (marked, near):
            process.kill()
            process.wait()


def _deep(root: Path) -> None:
    """Create folders deeper than Python's recursion limit and the longest path."""
    start = os.getcwd()
    os.chdir(root)
    try:
        for _ in range(1500):
            os.mkdir("deep")
            os.chdir("deep")
    finally:
        os.chdir(start)


def _lock(root: Path) -> None:
    inner = root / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    (inner / "file").chmod(0)
    for folder in (inner, inner.parent, root):
        folder.chmod(0)


def _link(root: Path) -> None:
    (root / "link").symlink_to(root.parent / "outside")


@pytest.mark.parametrize("make", [_deep, _lock, _link])
def test_folders_are_removed_and_link_targets_are_kept(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    """Run in a process without root privileges, where the tests run as root."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root, outside):
        folder.mkdir()
    (outside / "kept").write_text("x")
    child = os.fork()
    if not child:
        os._exit(_create_and_remove(tmp_path, root, make))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not root.exists()
    assert (outside / "kept").exists()


def _create_and_remove(tmp_path: Path, root: Path, make: Callable[[Path], None]) -> int:
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


def test_missing_folder_is_no_error(tmp_path: Path) -> None:
    remove_folder(tmp_path / "gone")
    assert not (tmp_path / "gone").exists()
