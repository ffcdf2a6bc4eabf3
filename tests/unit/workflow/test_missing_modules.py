"""What is said of modules that a project's tests do not find."""

from pathlib import Path

from greenloop.project.tree import ProjectTree
from greenloop.records import Project
from greenloop.workflow.setup.missing_modules import describe_missing_module, explain_suite_problem


def test_only_packages_that_the_metadata_name_are_proposed(tmp_path: Path) -> None:
    metadata = '[project]\nname = "shop"\ndependencies = ["PyYAML>=6"]\n'
    (tmp_path / "pyproject.toml").write_text(metadata, "utf-8")
    tree = ProjectTree(str(tmp_path), Project(files=()))
    assert "add --install" in explain_suite_problem("No module named 'yaml'", tree)
    assert "--install" not in explain_suite_problem("No module named 'child1'", tree)
    assert "--allow-package" not in describe_missing_module("child1", "a test imports", {"shop"})
