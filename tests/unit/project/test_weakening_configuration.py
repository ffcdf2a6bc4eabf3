"""Changes of configuration by which fewer tests count are named."""

import pytest

from greenloop.project.weakening.configuration import find_loosened_configuration

PYTEST = "[tool.pytest.ini_options]\n"


@pytest.mark.parametrize(
    ("path", "before", "after", "said"),
    [
        ("pyproject.toml", PYTEST, f"{PYTEST}addopts = '-k \"not slow\"'\n", "`-k not slow`"),
        ("pyproject.toml", PYTEST, f"{PYTEST}addopts = ['--deselect=a.py::b']\n", "--deselect"),
        ("pytest.toml", "[pytest]\naddopts = [1]\n", "[pytest]\naddopts = ['-x']\n", "`-x`"),
        ("pytest.ini", "[pytest]\n", "[pytest]\naddopts = --ignore tests/b\n", "--ignore tests/b"),
        (
            "setup.cfg",
            "[tool:pytest]\ntestpaths = a b\n",
            "[tool:pytest]\ntestpaths = a\n",
            "`a b`",
        ),
        (
            "pyproject.toml",
            f"{PYTEST}filterwarnings = ['error']\n",
            f"{PYTEST}filterwarnings = []\n",
            "no longer errors",
        ),
        (
            "pyproject.toml",
            "[tool.coverage.report]\nfail_under = 90\n",
            "[tool.coverage.report]\nfail_under = 50\n",
            "was 90, and is 50 now",
        ),
        (".coveragerc", "[report]\nfail_under = 90\n", "[report]\nfail_under = 80%\n", "is 0 now"),
        (
            "pyproject.toml",
            "[tool.greenloop]\nmutants = 100\n",
            "[tool.greenloop]\nmutants = 0\n",
            "[tool.greenloop]",
        ),
        ("tests/conftest.py", "", "def pytest_collection_modifyitems(items): ...\n", "is new"),
        ("conftest.py", "", "collect_ignore = ['test_a.py']\n", "['test_a.py'] is new"),
        ("conftest.py", "", "if CI:\n    collect_ignore.append('test_a.py')\n", "is new"),
        (".claude/settings.json", "greenloop gate", "", "decides what is checked"),
        (".github/workflows/a.yml", "run: pytest", "run: pytest -k fast", "`run: pytest` is gone"),
        ("noxfile.py", "run('pytest')", "run('pytest', 'tests/unit')", "is gone or was changed"),
        (
            "tox.ini",
            "test: pytest -v",
            "test: pytest -v tests/test_a.py",
            "`test: pytest -v` is gone",
        ),
        ("tox.ini", "commands = pytest", "commands = - pytest", "`commands = - pytest` is new"),
        ("tox.ini", "pytest\n  --doctest-modules", "pytest", "`--doctest-modules` is gone"),
    ],
)
def test_a_loosened_configuration_is_named(path: str, before: str, after: str, said: str) -> None:
    found = list(find_loosened_configuration({path: before}, {path: after}))
    assert len(found) == 1
    assert said in found[0]
    assert found[0].startswith(path)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (
            "pyproject.toml",
            "",
            "[tool.greenloop]\ntimeout = 30\nmutants = 100\n",
        ),  # as init writes it
        ("pyproject.toml", PYTEST, f"{PYTEST}addopts = '-ra --strict-markers'\n"),
        ("pyproject.toml", "[project]\nversion = '1'\n", "[project]\nversion = '2'\n"),
        ("tests/conftest.py", "", "import pytest\n\n@pytest.fixture\ndef shop(): ...\n"),
        ("conftest.py", "", "if sys.version_info < (3, 12):\n    collect_ignore = ['a.py']\n"),
        ("pyproject.toml", "not TOML", "neither = "),
        ("pytest.ini", "[pytest]\ntestpaths = a", "[pytest]\ntestpaths = a b"),
        (
            ".github/workflows/a.yml",
            "run: pytest a",
            "run: uv run pytest --cov=x tests/ a\n- python: 3",
        ),
        (".pre-commit-config.yaml", "- flake8-pytest-style==1.7", "- flake8-pytest-style==1.8"),
        ("pytest.ini", "", "[pytest]\ntestpaths = tests"),
        ("pytest.ini", "", "[pytest]\ntestpaths = test*"),
        (".codex/hooks.json", "", '"command": "greenloop gate --agent codex || exit 0"'),
    ],
)
def test_another_configuration_is_not_named(path: str, before: str, after: str) -> None:
    assert not list(find_loosened_configuration({path: before}, {path: after}, ["tests/a.py"]))


def test_settings_that_moved_to_another_file_are_not_named() -> None:
    ini = {"setup.cfg": "[tool:pytest]\ntestpaths = tests\nxfail_strict = true\n"}
    toml = {"pyproject.toml": f"{PYTEST}testpaths = ['tests']\nxfail_strict = true\n"}
    assert not list(find_loosened_configuration(ini, toml))
    weak = {"pyproject.toml": f"{PYTEST}testpaths = ['tests']\n"}
    assert "xfail_strict" in next(find_loosened_configuration(ini, weak))
