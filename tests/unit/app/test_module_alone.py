"""Which modules are graded alone, though an environment is active."""

import sys
from pathlib import Path

import pytest

from greenloop.app.inputs.project_module import read_module
from greenloop.errors import InputError
from greenloop.settings import Settings

TEST = "from prices import total\n\ndef test_total():\n    assert total([1, 2]) == 3\n"


def read_root(folder: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> Path | None:
    """Return the project that a module is graded in, None for a module alone."""
    texts = {"pytest.ini": "[pytest]\n", "prices.py": "total = sum\n", "test_prices.py": TEST}
    for name, text in (texts | files).items():
        (folder / name).write_text(text)
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    return read_module(folder / "prices.py", [folder / "test_prices.py"], Settings()).root


def test_what_needs_no_package_is_graded_alone_in_greenloop_s_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_root(tmp_path, monkeypatch) is None


@pytest.mark.parametrize(
    "files",
    [
        {"prices.py": "import pydantic\ntotal = sum\n"},
        {"test_prices.py": f"import helpers\n{TEST}", "helpers.py": ""},
        {"conftest.py": ""},
        {"pytest.ini": "[pytest]\naddopts = --strict-markers\n"},
        {
            "test_prices.py": TEST.replace(
                "from prices import total", "total = __import__('prices').total"
            )
        },
    ],
    ids=["package", "helper", "conftest", "options", "no import"],
)
def test_what_takes_part_in_its_tests_makes_it_a_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> None:
    assert read_root(tmp_path, monkeypatch, **files) == tmp_path


def test_what_cannot_be_imported_by_its_name_is_graded_in_its_project(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "price-list.py").write_text("total = sum\n")
    (tmp_path / "test_prices.py").write_text("import runpy\n\ndef test_a():\n    assert runpy\n")
    files = tmp_path / "price-list.py", [tmp_path / "test_prices.py"]
    assert read_module(*files, Settings()).root == tmp_path


def test_tests_of_a_folder_have_the_names_that_the_project_gives_them(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_files = *_spec.py\n")
    (tmp_path / "specs").mkdir()
    for name in ("specs/price_spec.py", "specs/conftest.py", "specs/__init__.py", "price.py"):
        (tmp_path / name).write_text("import price\n")
    inputs = read_module(tmp_path / "price.py", [tmp_path / "specs"], Settings())
    assert [item.name for item in inputs.tests] == ["specs/price_spec.py"]


def test_folder_with_an_environment_has_the_tests_of_the_project_alone(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "pkg/__init__.py", "pkg/prices.py", ".venv/pyvenv.cfg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    for name in ("test_prices.py", ".venv/test_prices.py"):
        (tmp_path / name).write_text("import pkg.prices\n")
    inputs = read_module(tmp_path / "pkg/prices.py", [tmp_path], Settings())
    assert [item.name for item in inputs.tests] == ["test_prices.py"]


def test_module_with_examples_may_be_its_own_tests_in_a_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text('"""\n>>> 1\n1\n"""\n')
    (tmp_path / "pkg/other.py").write_text("")
    code, other = tmp_path / "pkg/__init__.py", tmp_path / "pkg/other.py"
    assert [i.name for i in read_module(code, [code], Settings()).tests] == ["pkg/__init__.py"]
    with pytest.raises(InputError, match="is the code itself"):
        read_module(other, [other], Settings())
