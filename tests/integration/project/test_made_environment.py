"""The environment that `--install` makes for a project without one, and bytecode of any."""

import sys
import sysconfig
from pathlib import Path

import pytest

from greenloop.errors import InputError
from greenloop.project.environment import find_environment, open_environment
from greenloop.project.environment.bytecode import compile_packages
from greenloop.project.environment.discovery import install_declared_packages
from greenloop.project.environment.interpreter import read_environment
from greenloop.project.runner import ProjectRunner
from greenloop.project.tree import read_tree
from tests.integration.sandbox.conftest import has_namespaces, make_sandbox
from tests.support.project_environments import make_environment, write_files
from tests.support.wheels import only_wheels_of, wheel

TEST = """
from importlib.metadata import entry_points, version

import alpha
import shop


def test_all():
    assert (alpha.VALUE, shop.PRICE, version("shop")) == (1, 3, "1.2")
    assert "shop.main" in [item.module for item in entry_points(group="console_scripts")]
"""
PROJECT = """
[project]
name = "shop"
version = "1.2"
dependencies = ["alpha>=1"]
scripts = {shop = "shop.main:run"}
[project.optional-dependencies]
test = ["no-wheel-of-this"]
docs = ["gamma"]
"""
LOCK = """
[[package]]
name = "Alpha"
version = "1.0"
[[package]]
name = "pytest"
version = "6.2.5"
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wheels, root = tmp_path / "wheels", tmp_path / "project"
    wheels.mkdir()
    only_wheels_of(wheels, monkeypatch)
    for version, value in (("1.0", 1), ("2.0", 2)):
        wheel(wheels, "alpha", {"alpha.py": f"VALUE = {value}\n"}, version)
    shared = {"shared.pth": sysconfig.get_path("purelib") + "\n"}
    wheel(wheels, "pytest", shared, "9.0")
    files = {"pyproject.toml": PROJECT, "src/shop/__init__.py": "PRICE = 3\n"}
    write_files(root, {**files, "uv.lock": LOCK, "tests/test_shop.py": TEST})
    return root


@pytest.mark.skipif(not has_namespaces(), reason="the kernel allows no namespaces")
def test_what_a_project_declares_is_installed_once_and_found_again(root: Path) -> None:
    told: list[str] = []
    assert find_environment(root, None, print) is None
    install_declared_packages(root / "src" / "shop" / "__init__.py", told.append)
    assert told[0] == "installing what project declares: alpha, no-wheel-of-this, pytest"
    assert told[1] == "left out: no-wheel-of-this, which has no wheel"
    install_declared_packages(root, told.append)
    assert len(told) == 2
    found = find_environment(root, None, print)
    assert found is not None
    assert found.describe(str(root)).startswith("environment made by greenloop, Python 3.")
    with make_sandbox("native") as box, open_environment(box, found, root) as own:
        run = ProjectRunner(own, read_tree(root)).run({})
    assert run.passed, run.failures


def test_a_folder_of_no_project_has_nothing_to_install(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="belongs to no project"):
        install_declared_packages(tmp_path, print)


def test_packages_without_bytecode_are_compiled_for_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = {"loud.pth": "import loud\n", "loud.py": f"open({str(tmp_path / 'run')!r}, 'w')\n"}
    site = make_environment(tmp_path / "env", {**code, "part/one.py": "", "part/tests/two.py": ""})
    own = site / "ran/__pycache__"
    own.mkdir(parents=True)
    write_files(site, {"ran/three.py": "", "wrong.py": "def:"})
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    compile_packages(read_environment(str(tmp_path / "env"), ""))
    compiled = {path.name.partition(".")[0] for path in site.rglob("*.pyc")}
    assert compiled == {"loud", "one"}
    assert not (tmp_path / "run").exists()
