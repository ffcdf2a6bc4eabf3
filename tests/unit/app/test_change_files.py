"""Files and tests that a user names for a change or a script."""

import os
from pathlib import Path

import pytest

from greenloop.app.inputs.change_files import check_project, check_unlocked, read_change_tests
from greenloop.app.inputs.heal_files import read_layout
from greenloop.app.inputs.script_inputs import read_inputs
from greenloop.errors import InputError

TEST = "import mod\n\n\ndef test_a():\n    assert mod\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with an environment that has tests of its own, and a test outside of it."""
    root = tmp_path / "shop"
    for path in ("shop/tests/test_a.py", "shop/venv/tests/test_b.py", "test_new.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(TEST)
    for path in ("pyproject.toml", "mod.py", "venv/tests/test_c.py", "venv/pyvenv.cfg", "src/x.py"):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).touch()
    monkeypatch.chdir(root / "src")
    return root


def test_tests_of_an_environment_named_venv_are_not_the_project_s(project: Path) -> None:
    (given,) = read_change_tests(project, [Path("../../test_new.py")])
    _, tests, _ = read_layout(Path("../mod.py"), [Path("..")], None)
    assert (given.name, [item.name for item in tests]) == (
        *("tests/test_new.py", ["tests/test_a.py"]),
    )


def test_path_with_dots_names_a_file_of_the_project(project: Path) -> None:
    root = check_project(Path(".."), None)
    (given,) = read_change_tests(root, [Path("../tests/test_a.py")])
    assert (root, given.name) == (project, "tests/test_a.py")


def test_test_that_may_change_has_to_exist_however_its_path_is_written(project: Path) -> None:
    for path in (f"{project}/tests/test_a.py", "./tests/test_a.py", "src/../tests/test_a.py"):
        assert check_unlocked(project, [f"{path}::test_a[1]"]) == ("tests/test_a.py::test_a",)
    for test in (
        "tests/test_a.py::test_no",
        "tests/test_a.py::TestA::test_a",
        "../test_new.py::test_a",
    ):
        with pytest.raises(InputError, match="no such test"):
            check_unlocked(project, [test])


def test_folder_of_inputs_may_be_the_working_folder_or_its_parent(project: Path) -> None:
    Path("script.py").touch()
    assert [item.path for item in read_inputs(["."], own="script.py")] == ["x.py"]
    for name in (".env", ".git/config", "__pycache__/x.pyc"):  # secrets and generated files
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).touch()
    paths = {item.path for item in read_inputs(["..=data/new", "../.env=settings"])}
    assert paths.issuperset({"data/new/src/x.py", "settings"})
    assert not [item for item in paths if "venv" in item or "/.git" in item or ".pyc" in item]
    assert "src/x.py" in {item.path for item in read_inputs(["../src"])}
    assert "shop/mod.py" in {item.path for item in read_inputs([".."])}


def test_input_whose_name_is_no_text_is_refused_with_one_line(project: Path) -> None:
    with open(os.fsencode(project) + b"/src/caf\xe9.csv", "w"):
        pass
    with pytest.raises(InputError, match=r"caf.*: its name is not valid text"):
        read_inputs(["."])
