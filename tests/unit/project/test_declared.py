"""What a project declares, read from its files."""

from pathlib import Path

import pytest

from greenloop.project.declared import list_requirements
from greenloop.project.environment.generated_files import generate_files
from tests.support.programs import read_table
from tests.support.project_environments import write_files


@pytest.mark.parametrize(("files", "expected"), read_table(__file__, "FILES"))
def test_requirements(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    write_files(tmp_path, files)
    assert " ".join(list_requirements(tmp_path)) == expected


POETRY = b"""
[[tool.mypy.overrides]]
name = "other"
[tool.poetry]
name = "My.Own"
version = "2.5"
scripts = {own = "own:main"}
plugins."own.ext" = {plain = "own:plain"}
"""
POINTS = b"[console_scripts]\nown = own:main\n[own.ext]\nplain = own:plain\n"


@pytest.mark.parametrize(
    ("files", "folder", "points"),
    [
        ({"pyproject.toml": POETRY}, "My_Own-2.5", POINTS),
        (
            {"setup.py": b"setup(\n    name='own',\n    version='3.1',\n)"},
            "own-3.1",
            b"[console_scripts]\n",
        ),
        ({"setup.py": b"setup(name='own', version=read())"}, "own-0", b"[console_scripts]\n"),
    ],
)
def test_metadata(files: dict[str, bytes], folder: str, points: bytes) -> None:
    added = generate_files(files.get)
    assert added[f"{folder}.dist-info/entry_points.txt"] == points


@pytest.mark.parametrize("text", ["[", "project = 1", "[project]\nscripts = 1"])
def test_malformed_metadata_has_no_entry_points(text: str) -> None:
    files = {"pyproject.toml": text.encode(), "setup.cfg": b"name = own\nversion = 1.2\n"}
    added = generate_files(files.get)
    assert added["own-1.2.dist-info/entry_points.txt"].strip() in (b"", b"[console_scripts]")
