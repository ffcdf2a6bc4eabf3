"""Patches: what `git apply` and `patch -p1` make of them, and what greenloop applies itself."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from greenloop.project.patch import apply_patch, diff_files
from tests.support.patched_files import AFTER, BEFORE


def write(root: Path, texts: Mapping[str, str | None]) -> None:
    for path, text in texts.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            (root / path).write_bytes(text.encode())


def read(root: Path) -> dict[str, str]:
    files = (item for item in root.rglob("*") if item.is_file() and ".git" not in item.parts)
    return {str(item.relative_to(root)): item.read_bytes().decode() for item in files}


def without_deleted(texts: Mapping[str, str | None]) -> dict[str, str]:
    return {path: text for path, text in texts.items() if text is not None}


TOOLS = (
    ["git", "apply", "--whitespace=nowarn", "-"],
    ["patch", "-p1", "--binary", "--silent", "-E"],
)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool[0])
@pytest.mark.parametrize("is_reverse", [False, True])
def test_other_tools_apply_a_patch(tmp_path: Path, tool: list[str], is_reverse: bool) -> None:
    if shutil.which(tool[0]) is None:
        pytest.skip(f"{tool[0]} is not installed")
    patch = diff_files(BEFORE, AFTER)
    texts, wanted = (AFTER, BEFORE) if is_reverse else (BEFORE, {**BEFORE, **AFTER})
    expected = without_deleted(wanted)
    if tool[0] == "patch":  # it removes each file that it empties
        expected = {path: text for path, text in expected.items() if text}
        texts = {path: text for path, text in texts.items() if text != ""}
    write(tmp_path, texts)
    command = [*tool, "-R"] if is_reverse else tool
    subprocess.run(command, cwd=tmp_path, input=patch.encode(), check=True, timeout=30)
    assert read(tmp_path) == expected


def test_a_patch_of_an_empty_new_file_is_taken_by_git(tmp_path: Path) -> None:
    patch = diff_files({}, {"pkg/__init__.py": "", "pkg/a.py": "a\n"})
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch.encode(), check=True)
    assert read(tmp_path) == {"pkg/__init__.py": "", "pkg/a.py": "a\n"}
    assert apply_patch({}, patch) == {"pkg/__init__.py": "", "pkg/a.py": "a\n"}
