"""Entries of a batch."""

from pathlib import Path

from greenloop.batch.entries import read_entries


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
