"""Packages of the guest: bytecode for those that it loads, and what else is mounted."""

import os
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


def test_what_has_changed_since_is_compiled_again(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    build_guest_mounts(())
    (bytecode,) = source.glob("__pycache__/*.pyc")
    first = bytecode.stat().st_mtime_ns
    build_guest_mounts(())
    assert bytecode.stat().st_mtime_ns == first
    changed = source / "__init__.py"
    changed.write_text("A = 22\n", "utf-8")
    os.utime(changed, ns=(first + 10**9, first + 10**9))
    build_guest_mounts(())
    assert bytecode.stat().st_mtime_ns != first


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


def test_packages_are_found_by_any_spelling_of_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, metadata in (
        ("Zope.Thing", 'Requires-Dist: some_dep>=1; python_version < "4"'),
        ("some_dep", 'Requires-Dist: left-out; extra == "more"\n\nRequires-Dist: of-the-text\n'),
        ("left_out", ""),
        ("of_the_text", ""),
    ):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name}\n{metadata}", "utf-8")
        (tmp_path / f"{name}.py").touch()
        (info / "RECORD").write_text(f"{name}.py,,\n{info.name}/RECORD,,\n../bin/x,,\n", "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "missing"), str(tmp_path)])
    found = dict(list_site_entries(("zope-thing",)))
    assert found["Zope.Thing.py"] == str((tmp_path / "Zope.Thing.py").resolve())
    assert sorted(name for name in found if name.endswith(".py")) == [
        "Zope.Thing.py",
        "some_dep.py",
    ]
