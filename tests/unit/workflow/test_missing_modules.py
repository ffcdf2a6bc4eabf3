"""What is said of modules that a project's tests do not find."""

from pathlib import Path

import pytest

from greenloop.project.tree import ProjectTree
from greenloop.records import Project
from greenloop.workflow.setup.missing_modules import (
    describe_missing_module,
    explain_absent_submodules,
    explain_suite_problem,
)


def test_only_packages_that_the_metadata_name_are_proposed(tmp_path: Path) -> None:
    metadata = '[project]\nname = "shop"\ndependencies = ["PyYAML>=6"]\n'
    (tmp_path / "pyproject.toml").write_text(metadata, "utf-8")
    tree = ProjectTree(str(tmp_path), Project(files=()))
    assert "--install installs" in explain_suite_problem("No module named 'yaml'", tree)
    assert "--install" not in explain_suite_problem("No module named 'child1'", tree)
    assert "--allow-package" not in describe_missing_module("child1", "a test imports", {"shop"})


@pytest.mark.parametrize(
    ("problem", "remedy"),
    [
        ("the tests did not finish: still running after 180 s", "--timeout SECONDS"),
        ("conftest.py: PluginValidationError: unknown hook 'bench' in plugin", "`testpaths`"),
        ("no test passes: AssertionError", ""),
    ],
)
def test_a_remedy_is_named_where_one_is_known(tmp_path: Path, problem: str, remedy: str) -> None:
    metadata = '[project]\nname = "shop"\ndependencies = ["PyYAML>=6"]\n'
    (tmp_path / "pyproject.toml").write_text(metadata, "utf-8")
    told = explain_suite_problem(problem, ProjectTree(str(tmp_path), Project(files=())))
    assert remedy in told.partition(problem)[2]
    assert bool(remedy) == bool(told.partition(problem)[2])


def test_submodules_that_are_not_checked_out_are_named(tmp_path: Path) -> None:
    text = '[submodule "a"]\n\tpath = suite\n\turl = x\n[submodule "b"]\n\tpath = data\n'
    (tmp_path / ".gitmodules").write_text(text, "utf-8")
    (tmp_path / "suite").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.json").touch()
    assert ": suite (git submodule update" in explain_absent_submodules(tmp_path)
    (tmp_path / "suite" / "b.json").touch()
    assert explain_absent_submodules(tmp_path) == ""
