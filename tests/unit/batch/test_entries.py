"""Entries of a batch."""

from pathlib import Path

import pytest

from greenloop.batch.entries import read_entries
from greenloop.errors import InputError


def test_a_readme_among_other_files_is_no_specification(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("README.md", "top_k.md")]
    for path in paths:
        path.write_text("Write f")
    assert [item.id for item in read_entries([*map(str, paths)], None)] == ["top_k"]
    assert [item.id for item in read_entries([str(paths[0])], None)] == ["README"]


def test_what_tools_keep_in_a_folder_is_no_specification(tmp_path: Path) -> None:
    kept = ("a/top_k.md", "requirements.txt", ".greenloop/runs/b/choices.md", "env/x.txt")
    for name in (*kept, "env/pyvenv.cfg", "node_modules/c/d.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("Write f")
    assert [item.id for item in read_entries([str(tmp_path)], None)] == ["a/top_k"]


def test_numbered_specifications_can_be_written_to_a_folder(tmp_path: Path) -> None:
    (tmp_path / "01-roman.md").write_text("Write f")
    (entry,) = read_entries([str(tmp_path)], tmp_path / "out")
    assert entry.output == tmp_path / "out" / "module_01_roman.py"


@pytest.mark.parametrize(
    "keys", ['"id": "a", "output": "my-code.py"', '"id": "a", "output": "a"', '"id": "../a"']
)
def test_code_that_could_not_be_imported_or_leaves_the_folder_is_refused(
    tmp_path: Path, keys: str
) -> None:
    (tmp_path / "a.jsonl").write_text(f'{{{keys}, "spec": "Write f"}}')
    with pytest.raises(InputError, match=r"line 1: (id|output) "):
        read_entries([str(tmp_path / "a.jsonl")], tmp_path)
