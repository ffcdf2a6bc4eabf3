"""Packages of the guest: bytecode for those that it loads, and what else is mounted."""

from __future__ import annotations

import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from greenloop.sandbox.backends.mounts import build_guest_mounts, list_site_entries


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package in place of the guest's own, without bytecode."""
    (tmp_path / "__init__.py").write_text("A = 1\n", "utf-8")
    monkeypatch.setattr("greenloop.sandbox.guest.__file__", str(tmp_path / "__init__.py"))
    return tmp_path


def test_what_the_guest_loads_is_compiled(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    build_guest_mounts(())
    assert list(source.glob("__pycache__/*.pyc"))


def test_nothing_is_compiled_where_python_may_not(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    build_guest_mounts(())
    assert not list(source.glob("__pycache__/*.pyc"))


def test_entries_are_those_of_a_package_and_of_what_it_requires() -> None:
    found = dict(list_site_entries(("pytest",)))
    assert {"pytest", "_pytest", "pluggy", "iniconfig"} <= found.keys()
    assert all(Path(path).exists() for path in found.values())
    listed = {file.parts[0] for file in distribution("pytest").files or ()}
    assert listed - {"..", "__pycache__"} <= found.keys()


def test_what_is_not_installed_has_no_entries() -> None:
    assert list_site_entries(("no-such-package",)) == []
