"""Reading of environments: nothing of them is executed."""

import sys
from pathlib import Path

import pytest

from greenloop.app.inputs.project_module import read_module
from greenloop.errors import InputError
from greenloop.project.environment.discovery import (
    find_environment,
    find_project_root,
    find_working_root,
)
from greenloop.project.environment.folders import list_named_folders, list_other_folders
from greenloop.project.environment.interpreter import Environment, read_environment, trace_links
from greenloop.project.environment.project_copy import build_guest
from greenloop.settings import Settings
from tests.support.project_environments import write_files


def make_fake(folder: Path, *, pytest_version: str = "8.3.4", minor: int = 12) -> Path:
    """Make the files of an environment whose interpreter is never started."""
    base = Path(sys.base_prefix)
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(base / "bin" / "python3")
    site = folder / "lib" / f"python3.{minor}" / "site-packages"
    config = f"home = {base}/bin\nversion = 3.{minor}.4\n"
    write_files(folder, {"pyvenv.cfg": config})
    write_files(
        site,
        {
            f"pytest-{pytest_version}.dist-info/METADATA": "",
            "pytest_mock-3.1.dist-info/entry_points.txt": "[pytest11]\npytest_mock = pytest_mock\n",
            "pytest_xdist-3.8.dist-info/entry_points.txt": "[pytest11]\nxdist = xdist.plugin\n",
            "other-1.0.dist-info/entry_points.txt": "[console_scripts]\nx = y:z\n",
        },
    )
    return site


def found_at(root: Path, python: str | None = None) -> tuple[Environment | None, list[str]]:
    lines: list[str] = []
    return find_environment(root, python, lines.append), lines


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_files(tmp_path / "project", {"pyproject.toml": "", "src/shop/__init__.py": ""})
    return tmp_path / "project"


def test_the_environment_in_the_project_is_described_in_one_line(root: Path) -> None:
    make_fake(root / ".venv")
    found, _ = found_at(root)
    assert found is not None
    line = "environment .venv, Python 3.12.4, pytest 8.3.4, 2 plug-ins, with -n0"
    assert found.describe(str(root)) == line


def test_syntax_that_only_the_newer_python_of_the_environment_reads_is_no_error(root: Path) -> None:
    write_files(root, {"src/shop/cart.py": "def f(:\n", "test_cart.py": ""})
    files = root / "src/shop/cart.py", [root / "test_cart.py"]
    with pytest.raises(InputError, match="is not Python: line 1"):
        read_module(*files, Settings())
    make_fake(root / ".venv", minor=99)
    assert read_module(*files, Settings()).code == "def f(:\n"


def test_an_activated_environment_comes_first(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_fake(root / ".venv")
    make_fake(tmp_path / "active")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    found, _ = found_at(root)
    assert found is not None
    assert found.prefix == str(tmp_path / "active")
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "active"))
    monkeypatch.setenv("CONDA_DEFAULT_ENV", "base")  # activated in every shell
    monkeypatch.delenv("VIRTUAL_ENV")
    assert (based := found_at(root)[0]) is not None
    assert based.prefix == str(root / ".venv")
    named, _ = found_at(root, str(root / ".venv"))
    assert named is not None
    assert named.prefix == str(root / ".venv")


def test_the_one_of_greenloop_comes_after_the_one_in_the_project(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_fake(tmp_path / "active")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    monkeypatch.setattr("sys.prefix", str(tmp_path / "active"))
    found, _ = found_at(root)
    assert found is not None
    assert found.prefix == str(tmp_path / "active")
    write_files(root, {"requirements.txt": "attrs\npytest\npytest-missing\n"})
    found, notes = found_at(root)
    assert found is None
    assert "lacks attrs, pytest-missing" in "".join(notes)
    make_fake(root / ".venv")
    found, _ = found_at(root)
    assert found is not None
    assert found.prefix == str(root / ".venv")


def test_an_interpreter_without_an_environment_is_used_where_the_project_is_installed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = make_fake(tmp_path / "python")
    monkeypatch.setenv("PATH", str(tmp_path / "python" / "bin"))
    assert found_at(root)[0] is None
    url = '{"url": "%s", "dir_info": {}}'
    write_files(site, {"shop-1.0.dist-info/direct_url.json": url % root.as_uri()})
    found, _ = found_at(root)
    assert found is not None
    assert (found.prefix, found.origin) == (str(tmp_path / "python"), "python on the PATH")


def test_one_above_the_repository_is_not_used(root: Path, tmp_path: Path) -> None:
    make_fake(tmp_path / "venv")
    assert found_at(root)[0] is None
    (root / ".git").mkdir()
    assert found_at(root)[0] is None


@pytest.mark.parametrize("version", ["", "7.3.2", "6.2"])
def test_an_environment_without_a_recent_pytest_is_not_used(root: Path, version: str) -> None:
    site = make_fake(root / ".venv", pytest_version=version or "8.0")
    if not version:
        (site / "pytest-8.0.dist-info" / "METADATA").unlink()
        (site / "pytest-8.0.dist-info").rmdir()
    found, lines = found_at(root)
    assert found is None
    assert "pytest" in lines[0]
    with pytest.raises(InputError, match="--python"):
        found_at(root, str(root / ".venv"))


def test_an_interpreter_that_leads_elsewhere_is_refused(root: Path, tmp_path: Path) -> None:
    make_fake(root / ".venv")
    write_files(tmp_path, {"secret/bin/key": "x"})
    (root / ".venv/bin/python").unlink()
    (root / ".venv/bin/python").symlink_to(tmp_path / "secret/bin/key")
    found, lines = found_at(root)
    assert found is None
    assert "no installation of Python" in lines[0]


def test_links_are_traced_through_folders(tmp_path: Path) -> None:
    write_files(tmp_path, {"real-3.12.4/bin/python3.12": ""})
    (tmp_path / "real").symlink_to("real-3.12.4")
    (tmp_path / "python").symlink_to(f"{tmp_path}/real/bin/python3.12")
    found = trace_links(str(tmp_path / "python"))
    assert found == [
        (f"{tmp_path}/real/bin/python3.12", f"{tmp_path}/python"),
        ("real-3.12.4", f"{tmp_path}/real"),
    ]


def test_folders_of_editable_installations_are_named(root: Path, tmp_path: Path) -> None:
    site = make_fake(root / ".venv")
    write_files(tmp_path, {"other/pkg/__init__.py": "", "third/one.py": ""})
    finder = f"MAPPING: dict[str, str] = {{'pkg': '{tmp_path}/other/pkg'}}\nNAMESPACES = {{}}\n"
    write_files(
        site,
        {
            "__editable___pkg_finder.py": finder,
            "x.pth": f"import __editable___pkg_finder\n{root}/src\n{tmp_path}/third\n/not/there\n",
        },
    )
    environment = read_environment(str(root / ".venv"), "")
    assert set(list_named_folders(environment)) == {
        f"{tmp_path}/other/pkg",
        f"{root}/src",
        f"{tmp_path}/third",
    }
    others = set(list_other_folders(environment, str(root)))
    assert others == {f"{tmp_path}/other/pkg", f"{tmp_path}/third"}


@pytest.mark.parametrize("path", ["{home}", "/", "{home}/.ssh/keys", "{home}/.aws"])
def test_folders_that_may_hold_secrets_are_refused(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    named = path.format(home=home)
    Path(named).mkdir(parents=True, exist_ok=True)
    write_files(make_fake(root / ".venv"), {"x.pth": f"{named}\n"})
    environment = read_environment(str(root / ".venv"), "")
    with pytest.raises(InputError, match="secrets"):
        build_guest(environment, str(root), tmp_path / "copy", {})


def test_passwords_of_an_index_and_secrets_of_other_sources_are_masked(
    root: Path, tmp_path: Path
) -> None:
    site = make_fake(root / ".venv")
    write_files(root / ".venv", {"pip.conf": "index-url = https://me:pw@example.org"})
    write_files(
        tmp_path / "other", {"pkg/a.py": "", ".env": "KEY=1", ".git/config": "", ".ssh/x": ""}
    )
    write_files(site, {"x.pth": f"{tmp_path}/other\n"})
    environment = read_environment(str(root / ".venv"), "")
    guest = build_guest(environment, str(root), tmp_path / "copy", {})
    assert guest.masked == (f"{root}/.venv/pip.conf", f"{tmp_path}/other/.env")
    assert {*guest.hidden} >= {f"{tmp_path}/other/.git", f"{tmp_path}/other/.ssh"}


def test_a_link_to_an_interpreter_opens_nothing_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(sys.executable)
    found = read_environment(str(tmp_path / "bin/python"), "")
    assert found.prefix == found.base != str(tmp_path)


def test_the_library_of_python_may_be_in_lib64(tmp_path: Path) -> None:
    site = "usr/lib64/python3.12/site-packages/pytest-8.0.dist-info/METADATA"
    write_files(tmp_path, {"usr/lib64/python3.12/os.py": "", "usr/bin/python3.12": "", site: ""})
    found = read_environment(str(tmp_path / "usr/bin/python3.12"), "")
    assert (found.python_version, found.pytest_version) == ("3.12", "8.0")
    assert f"{tmp_path}/usr/lib64" in build_guest(found, "/p", tmp_path / "copy", {}).folders


def test_the_root_of_a_project_is_the_nearest_folder_with_its_configuration(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_project_root(root / "src/shop/__init__.py") == root
    write_files(root, {"tools/setup.py": "", "tools/lib/a.py": ""})
    assert find_project_root(root / "tools/lib/a.py") == root / "tools"
    monkeypatch.chdir(root / "src/shop")
    assert (find_working_root(Path()), find_working_root(Path("x"))) == (root, Path("x"))


def test_the_home_folder_is_no_project(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_fake(tmp_path / ".venv")
    write_files(tmp_path, {"setup.cfg": "", "script.py": ""})
    assert find_project_root(tmp_path / "script.py") == tmp_path
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_project_root(tmp_path / "script.py") is None
    assert find_project_root(root / "src/shop/__init__.py") == root
    found, lines = found_at(tmp_path)
    assert found is None
    assert str(tmp_path) in lines[0]
