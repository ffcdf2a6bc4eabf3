"""pytest options of a project without an environment: which are used."""

from __future__ import annotations

import pytest

from greenloop.sandbox.work.pytest_config import read_pytest_options

KEPT: dict[str, list[str]] = {
    "-ra -q --tb=short --color yes -vv -s --durations=10": [],
    "-m 'not slow' -k 'a or b' -knone": ["-m", "not slow", "-k", "a or b", "-knone"],
    "--import-mode=importlib --strict-markers": ["--import-mode=importlib", "--strict-markers"],
    "--ignore tests/x --deselect=a::b": ["--ignore", "tests/x", "--deselect=a::b"],
    "-p no:cacheprovider -p no:warnings -p pytester -p tests.plugin": [
        *("-p", "no:warnings", "-p", "pytester", "-p", "tests.plugin")
    ],
    "--doctest-modules tests": ["--doctest-modules"],
    "--own --own-value=3": ["--own", "--own-value=3"],
}
LEFT_OUT = (
    "--cov=x --cov-report term-missing -n 4 -x",
    "--maxfail=1 --pdb --timeout 3",
    "-p xdist --basetemp=/x tests",
    "-c other.ini --rootdir .. --lf",
)
CONFTEST = b"def pytest_addoption(p):\n    p.addoption('--own')\n    p.addoption(\"--own-value\")\n"


@pytest.mark.parametrize("words", KEPT)
def test_selection_options_are_used(words: str) -> None:
    ini = f"[pytest]\naddopts =\n    {words}\n".encode()
    options = read_pytest_options(
        {"pytest.ini": ini, "conftest.py": CONFTEST, "tests/plugin.py": b""}
    )
    assert options.arguments == KEPT[words]
    assert options.config == "pytest.ini"


@pytest.mark.parametrize("words", LEFT_OUT)
def test_other_options_are_left_out(words: str) -> None:
    options = read_pytest_options({"setup.cfg": f"[tool:pytest]\naddopts = {words}\n".encode()})
    assert options.arguments == []


@pytest.mark.parametrize(
    ("files", "config"),
    [
        ({}, ""),
        ({"pyproject.toml": "[project]\nname='x'", "tox.ini": "[tox]\n"}, ""),
        (
            {"pyproject.toml": "[tool.pytest.ini_options]\nmarkers=[]", "tox.ini": "[pytest]"},
            "pyproject.toml",
        ),
        (
            {"pytest.ini": "", "pyproject.toml": "[tool.pytest.ini_options]\nmarkers=[]"},
            "pytest.ini",
        ),
        ({"tox.ini": "[pytest]\naddopts=-q"}, "tox.ini"),
        ({"setup.cfg": "[tool:pytest]\naddopts=-q"}, "setup.cfg"),
        ({"pyproject.toml": "[tool.pytest"}, "pyproject.toml"),
        ({"pyproject.toml": "tool = 3"}, ""),
        ({"pytest.ini": "[pytest]\naddopts = 'open"}, "pytest.ini"),
        ({"sub/pytest.ini": "[pytest]"}, ""),
    ],
)
def test_configuration_file_is_the_one_that_pytest_uses(files: dict[str, str], config: str) -> None:
    assert (
        read_pytest_options({path: text.encode() for path, text in files.items()}).config == config
    )
