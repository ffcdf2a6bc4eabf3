"""Packages that a project's tests need, and what is said of modules that they do not find."""

from greenloop.dependencies import PackageAllowlist, PackageResolver
from greenloop.project.tree import ProjectTree
from greenloop.records import InputFile, Project
from greenloop.workflow.setup.missing_modules import describe_missing_modules


def test_only_packages_that_the_metadata_name_are_proposed() -> None:
    text = b'[project]\nname = "shop"\ndependencies = ["PyYAML>=6"]\n'
    tree = ProjectTree("", Project(files=(InputFile(path="pyproject.toml", content=text),)))
    assert "add --install" in describe_missing_modules(["yaml"], "tests import", tree)
    assert "--install" not in describe_missing_modules(["child1"], "tests import", tree)


def test_packages_are_those_that_are_declared_and_used() -> None:
    resolver = PackageResolver(PackageAllowlist.parse("numpy,rich,attrs,pytest-asyncio"))
    declared = {"numpy", "rich", "pytest-asyncio", "requests"}
    sources = ["import numpy, attr, requests, rich.table"]
    assert resolver.find_declared(sources, ["rich"], declared) == {"numpy", "pytest-asyncio"}
