"""Commands in a project that has an environment of its own: it runs the tests."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Run
from tests.integration.sandbox.conftest import has_namespaces
from tests.support.programs import read_program
from tests.support.project_environments import make_environment, write_files

pytestmark = pytest.mark.skipif(not has_namespaces(), reason="the kernel allows no namespaces")

CODE = read_program(__file__, "CODE")
# What greenloop's own Python could not run: names of its own, a fixture of a plug-in, data beside it.
TESTS = read_program(__file__, "TESTS")
PLUGIN = """
import os, pytest

@pytest.fixture
def zero():
    return int(os.environ["ZERO"])
"""
CONFIGURATION = """
[project]
name = "shop"
[tool.pytest.ini_options]
python_files = "check_*.py"
python_functions = "check_*"
"""


@pytest.fixture
def shop() -> Path:
    root = Path("shop").absolute()
    files = {
        ".gitignore": ".venv\n",
        "pyproject.toml": CONFIGURATION,
        "src/shop/__init__.py": "",
        "src/shop/rates.py": "RATE = 3\n",
        "src/shop/prices.py": CODE,
        "spec/check_prices.py": TESTS,
        "spec/data.txt": "data",
    }
    write_files(root, files)
    Path("pyproject.toml").write_text('[tool.greenloop.env]\nZERO = "0"\n')
    entry_points = "[pytest11]\nzero = zeros\n"
    packages = {
        "zeros.py": PLUGIN,
        "zeros-1.0.dist-info/METADATA": "Name: zeros\n",
        "zeros-1.0.dist-info/entry_points.txt": entry_points,
        # pytest loads the files of plug-ins itself, to explain their assertions.
        "zeros-1.0.dist-info/RECORD": "shop/__init__.py,,\nshop/prices.py,,\n",
        "shop.pth": f"{root}/src\n",
    }
    make_environment(root / ".venv", packages)
    return root


def test_a_module_is_graded_in_its_project(run: Run, shop: Path) -> None:
    paths = "shop/src/shop/prices.py", "shop/spec/check_prices.py"
    status, out, err = run("check", *paths, "--json", "--require", "passed", "--mutants", "4")
    report = json.loads(out)
    assert (status, report["verdict"], report["reasons"]) == (0, "verified", []), report["evidence"]
    assert "environment .venv, Python 3." in err
    assert "1 plug-in" in err
    project = report["environment"]["project"]
    assert (project["path"], project["plugins"]) == (str(shop / ".venv"), ["zeros"])
    evidence = report["evidence"]
    assert evidence["coverage"]["line"] == evidence["coverage"]["branch"] == 1.0
    assert evidence["flakiness"]["reached"]
    assert evidence["mutation"]["killed"] >= 3
    assert evidence["isolated"]["agreed"] == 2  # with the files that tests read
    assert {item["id"] for item in report["tests"]} == {
        f"spec/check_prices.py::check_{name}" for name in ("gross", "negative", "zero", "later")
    }


def test_changed_lines_are_graded_in_the_environment(run: Run, shop: Path) -> None:
    for words in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -q -m one"):
        subprocess.run(["git", "-C", "shop", *words.split()], check=True)
    (shop / "src/shop/prices.py").write_text(CODE.replace("net * RATE", "RATE * net"))
    more = "\n\ndef check_more():\n    assert gross(4) == 12\n"
    more += "\n\n@pytest.mark.xfail\ndef check_known():\n    assert gross(5) == 15\n"
    (shop / "spec/check_prices.py").write_text(TESTS + more)
    _, out, _ = run("check", "--diff", "HEAD", "--in", "shop", "--json", "--mutants", "2")
    report = json.loads(out)
    assert report["verdict"] == "verified", report
    assert report["change"]["baseline"]["locked"] == 4
    assert {"id": "spec/check_prices.py::check_known", "outcome": "xpassed"}.items() <= (
        report["tests"][-1].items()
    )
    assert report["environment"]["project"]["python"].startswith("3.")


def test_a_module_is_healed_in_its_project(run: Run, shop: Path) -> None:
    module, tests = shop / "src/shop/prices.py", shop / "spec/check_prices.py"
    # Without function bodies these tests cannot be collected; one of them never passes.
    known = "@pytest.mark.xfail\ndef check_known():\n    assert ROW == 4\n"
    tests.write_text(f"{TESTS}\nROW = gross(1)\n\n{known}")
    module.write_text(CODE.replace("net < 0", "net <= 0"))
    options = ("--tests", "shop/spec/check_prices.py", "--model", "none", "--yes")
    status, _, err = run("heal", str(module), *options, "--mutants", "0")
    assert status == 0, err
    assert module.read_text() == CODE


def test_an_environment_that_cannot_be_used_is_an_error_where_it_was_named(
    run: Run, shop: Path
) -> None:
    paths = "shop/src/shop/prices.py", "shop/spec/check_prices.py"
    status, _, err = run("check", *paths, "--python", "shop/src")
    assert status == 2
    assert "shop/src is no Python interpreter or environment" in err
