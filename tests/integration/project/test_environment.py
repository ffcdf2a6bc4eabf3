"""Tests of a project in its own environment: pytest as its owner runs it, in the sandbox."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenloop.errors import InputError
from greenloop.grading.mutation import measure_mutation
from greenloop.project.environment import find_environment, open_environment
from greenloop.project.tree import read_tree
from greenloop.records import TestRun
from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.views.project import ProjectSandbox
from tests.integration.sandbox.conftest import has_namespaces, make_sandbox, skip_reason
from tests.support.programs import read_program
from tests.support.project_environments import make_environment, write_files

pytestmark = pytest.mark.skipif(not has_namespaces(), reason="the kernel allows no namespaces")

PLUGIN = read_program(__file__, "PLUGIN")
COVERAGE = """
def pytest_addoption(parser):
    parser.addoption("--no-cov", action="store_true")

def pytest_sessionfinish(session):
    if not session.config.option.no_cov:
        session.exitstatus = 1
"""
# What a `.pth` file does when the interpreter starts.
HOSTILE = read_program(__file__, "HOSTILE")
CHECKS = read_program(__file__, "CHECKS")
CONFIGURATION = """
[tool.pytest.ini_options]
python_files = "check_*.py"
python_functions = "check_*"
python_classes = "CheckO*"
addopts = "--flavour mint -x"
"""
OUTCOMES = {
    "check_package_and_data": "passed",
    "check_place": "passed",
    "check_start_up_code_is_confined": "passed",
    "check_nothing_is_left_by_another_run": "passed",
    "check_expected_failure": "xfailed",
    "check_red": "failed",
    "CheckOne::check_inherited": "passed",
}


@pytest.fixture(params=["bubblewrap", "native"], scope="module")
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    if reason := skip_reason(request.param):
        pytest.skip(reason)
    with make_sandbox(request.param) as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("API_KEY", "secret")
    root = tmp_path / "a project"
    write_files(tmp_path, {"secret": "x"})
    write_files(
        root,
        {
            "pyproject.toml": CONFIGURATION,
            "src/shop/__init__.py": "def price(name):\n    return len(name)\n",
            "src/shop/built.txt": "",
            ".gitignore": "built.txt\n",
            "tests/check_shop.py": CHECKS.replace("PROJECT", repr(str(root)), 1),
            "tests/data/prices.txt": "tea 3",
        },
    )
    packages = {
        "taste.py": PLUGIN,
        "taste-1.0.dist-info/entry_points.txt": "[pytest11]\ntaste = taste\n",
        "taste-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: taste\nVersion: 1.0\n",
        "start.pth": f"import start\n{root}/src\n",
        "start.py": HOSTILE.replace("OUTSIDE", repr(str(tmp_path / "secret"))),
    }
    make_environment(root / ".venv", packages)
    return root


def run(box: Sandbox, root: Path, text: str | None = None) -> TestRun:
    environment = find_environment(root, None, print)
    assert environment is not None
    with open_environment(box, environment, root) as own:
        tree = read_tree(root)
        if text is not None:
            tree = tree.with_changes({"src/shop/__init__.py": text})
        own.run_project(tree.project)
        return own.run_project(tree.project)


def test_the_owner_s_pytest_runs_in_the_sandbox(box: Sandbox, root: Path) -> None:
    found = run(box, root)
    outcomes = {name.partition("::")[2]: item for name, item in found.outcomes.items()}
    assert outcomes == OUTCOMES, found
    assert all(name.startswith("tests/check_shop.py::") for name in found.outcomes)
    assert not (root / "left.txt").exists()
    assert "raise" not in (root / "src/shop/__init__.py").read_text()


def test_changed_files_take_the_place_of_those_of_the_copy(box: Sandbox, root: Path) -> None:
    found = run(box, root, text="def price(name):\n    return 4\n")
    outcomes = {name.partition("::")[2]: item for name, item in found.outcomes.items()}
    assert outcomes["check_red"] == "passed"
    assert outcomes["check_package_and_data"] == "failed"


def test_a_broken_configuration_is_reported(box: Sandbox, root: Path) -> None:
    (root / "pyproject.toml").write_text(
        "[tool.pytest.ini_options]\naddopts = '--no-such-option'\n"
    )
    found = run(box, root)
    assert not found.passed
    assert "no-such-option" in found.failures[0].message


def test_one_that_git_tracks_is_used_only_if_it_is_named(root: Path, tmp_path: Path) -> None:
    make_environment(root / "venv")
    for words in ("init -q", "add -f venv/pyvenv.cfg pyproject.toml"):
        subprocess.run(["git", "-C", str(root), *words.split()], check=True)
    shutil.rmtree(root / ".venv")
    lines: list[str] = []
    assert find_environment(root, None, lines.append) is None
    assert "--python" in lines[0]
    assert find_environment(root, str(root / "venv"), lines.append) is not None


def test_one_that_git_tracks_is_not_used_because_a_project_names_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(root, {"pyproject.toml": '[tool.greenloop]\npython = ".venv"\n'})
    for words in ("init -q", "add -f .venv/pyvenv.cfg"):
        subprocess.run(["git", "-C", str(root), *words.split()], check=True)
    monkeypatch.chdir(root)
    with pytest.raises(InputError, match="is in the repository"):
        find_environment(root, ".venv", print)
    assert find_environment(root, str(root / ".venv"), print) is not None


def test_files_of_the_project_come_before_copies_that_are_installed(
    box: Sandbox, root: Path
) -> None:
    site = next((root / ".venv").glob("lib/python3*/site-packages"))
    write_files(site, {"shop/__init__.py": "def price(name):\n    return 0\n"})
    write_files(site, {"start.pth": "import start\n"})
    found = run(box, root, text="def price(name):\n    return 4\n")
    outcomes = {name.partition("::")[2]: item for name, item in found.outcomes.items()}
    assert outcomes["check_red"] == "passed"


PROGRAM = """
import os
import shop
from tests import words

def program_0():
    see__(1, shop.price(words.WORDS[0]))
    see__(2, [name for name in os.listdir(os.path.dirname(words.__file__)) if "test" in name])

programs = [(program_0, (), [()])]
"""


def test_programs_find_the_modules_that_tests_use_and_no_tests(box: Sandbox, root: Path) -> None:
    files = {"tests/__init__.py": "", "tests/words.py": "WORDS = ['tea']\n"}
    write_files(root, {**files, "tests/test_a.py": "def test_a(): pass\n"})
    (site,) = (root / ".venv").glob("lib/python3*/site-packages")
    write_files(site, {"looker.py": "import os\nKNOWN = os.listdir('/proc/self')\n"})
    found = find_environment(root, None, print)
    assert found is not None
    tree = read_tree(root)
    source = next(path for path in tree.texts if path.endswith("shop/__init__.py"))
    with open_environment(box, found, root) as own:
        view = ProjectSandbox(own, tree.project, source)
        seen = view.observe(tree.texts[source], "shop", PROGRAM)
        codes = ("import looker", "import os; os.listdir('/proc/self')")
        texts = (f"{code}\n{tree.texts[source]}" for code in codes)
        looked = [view.observe(text, "shop", PROGRAM).rows[0].looked for text in texts]
    assert looked == ["", "/proc/self"]  # the code's own lookup, not that of a package
    (row,) = seen.rows
    assert (row.error, seen.error) == (None, "")
    assert [text for _, text in row.observations] == ['{"value":3}', '{"value":["list"]}']


PLUGIN_PROJECT = {
    "pyproject.toml": "",
    "plug.py": "def pytest_configure(config):\n    config.plug = 2\n",
    "test_plug.py": "def test_plug(pytestconfig):\n    assert pytestconfig.plug == 2\n",
}


def test_mutants_of_what_a_plugin_runs_before_the_tests_are_tried(box: Sandbox, root: Path) -> None:
    root = root.parent / "plug"
    write_files(root, PLUGIN_PROJECT)
    packages = {
        "plug.pth": f"{root}\n",
        "plug-1.0.dist-info/entry_points.txt": "[pytest11]\nplug = plug\n",
        "plug-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: plug\nVersion: 1.0\n",
    }
    make_environment(root / ".venv", packages)
    found = find_environment(root, None, print)
    assert found is not None
    project = read_tree(root).with_changes({}, ["test_plug.py"]).project
    with open_environment(box, found, root) as own:
        view = ProjectSandbox(own, project, "plug.py")
        seen = measure_mutation(view, PLUGIN_PROJECT["plug.py"], (), module="plug", budget_s=200)
    assert (seen.trouble, seen.survived) == ("", ())
    assert seen.noticed == seen.sampled > 0


def test_a_threshold_of_coverage_is_no_failure(box: Sandbox, root: Path) -> None:
    site = next((root / ".venv").glob("lib/python3*/site-packages"))
    write_files(
        site,
        {
            "threshold.py": COVERAGE,
            "threshold-1.0.dist-info/entry_points.txt": "[pytest11]\npytest_cov = threshold\n",
            "threshold-1.0.dist-info/METADATA": "Name: threshold\nVersion: 1.0\n",
        },
    )
    write_files(root, {"tests/check_shop.py": "def check_one():\n    assert True\n"})
    assert run(box, root).passed


def test_one_above_the_project_is_found_in_its_repository(root: Path, tmp_path: Path) -> None:
    shutil.move(root / ".venv", tmp_path / "venv")
    assert find_environment(root, None, print) is None
    subprocess.run(["git", "-C", str(tmp_path), "init", "-q"], check=True)
    found = find_environment(root, None, print)
    assert found is not None
    assert found.prefix == str(tmp_path / "venv")


def test_a_folder_of_an_editable_installation_may_hold_the_project(
    box: Sandbox, root: Path, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)  # root's runs are another user's
    site = next((root / ".venv").glob("lib/python3*/site-packages"))
    write_files(tmp_path, {"library.py": "VALUE = 3\n"})
    write_files(site, {"above.pth": f"{tmp_path}\n"})
    test = (
        "import library, shop\n\ndef check_both():\n    assert shop.price('tea') == library.VALUE\n"
    )
    write_files(root, {"tests/check_above.py": test})
    found = run(box, root, text="def price(name):\n    return 3\n")
    outcomes = {name.partition("::")[2]: item for name, item in found.outcomes.items()}
    assert outcomes.get("check_both") == "passed", found.output
