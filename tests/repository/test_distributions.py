"""Versions and entry points of installed distributions."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from greenloop.distributions import (
    get_installed_version,
    list_metadata_folders,
    registers_entry_points,
)
from greenloop.plugins import entry_points

REGISTERED = "[greenloop.evidence]\nspeed = some_package:measure\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of `sys.path`, with two distributions, one of them not from a wheel."""
    for name in ("Zope.Thing-1.0rc1+local.dist-info", "older.egg-info"):
        (tmp_path / name).mkdir()
    (tmp_path / "older.egg-info" / "PKG-INFO").write_text("Name: older\nVersion: 0.9\n", "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "missing"), str(tmp_path)])
    get_installed_version.cache_clear()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("zope-thing", "1.0rc1+local"),
        ("Zope_Thing", "1.0rc1+local"),
        ("older", "0.9"),
        ("no", None),
    ],
)
def test_a_version_is_found(folder: Path, name: str, expected: str | None) -> None:
    assert get_installed_version(name) == expected


@pytest.mark.parametrize("name", ["pytest", "typing-extensions", "pydantic_core", "greenloop"])
def test_versions_are_those_of_the_standard_library(name: str) -> None:
    get_installed_version.cache_clear()
    assert get_installed_version(name) == version(name)


def test_the_first_of_two_distributions_counts(folder: Path) -> None:
    (folder / "again").mkdir()
    (folder / "again" / "Zope.Thing-2.0.dist-info").mkdir()
    sys.path.append(str(folder / "again"))
    assert list_metadata_folders() == {"zope-thing": f"{folder}/Zope.Thing-1.0rc1+local.dist-info"}


@pytest.mark.parametrize("name", ["Zope.Thing-1.0rc1+local.dist-info", "older.egg-info"])
def test_entry_points_are_found(folder: Path, name: str) -> None:
    assert list(entry_points("greenloop.evidence")) == []
    (folder / name / "METADATA").write_text("Name: Zope.Thing\n", "utf-8")
    (folder / name / "entry_points.txt").write_text(REGISTERED, "utf-8")
    assert [item.name for item in entry_points("greenloop.evidence")] == ["speed"]
    assert not registers_entry_points("greenloop.models")
