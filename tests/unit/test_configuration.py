"""Configuration files: what a project may set, what the user may, and what comes first."""

from pathlib import Path

import pytest

from greenloop.errors import SettingsError
from greenloop.settings import Settings
from tests.support.programs import read_table


@pytest.fixture(autouse=True)
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's file, which does not exist yet; the working folder is a project below another."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project" / "src").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "src")
    path = tmp_path / "config" / "greenloop" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def write_project(*lines: str) -> None:
    Path("../pyproject.toml").write_text("\n".join(["[tool.greenloop]", *lines]))


def test_a_project_sets_what_cannot_weaken() -> None:
    write_project(
        *("timeout = 45", "mutants = 200", "min-mutation-score = 0.9", 'require = "verified"'),
        *('allow-packages = ["attrs", "numpy==2.*"]', 'fence = ["src/**"]'),
        'models = { fast = "openai:gpt-5.4-mini" }',
    )
    found = Settings.load(model="fast")
    assert (found.timeout_s, found.mutants, found.min_mutation_score) == (45, 200, 0.9)
    assert (found.require, found.fence) == ("verified", ("src/**",))
    assert (found.allow_package, found.model) == ("attrs,numpy==2.*", "openai:gpt-5.4-mini")


def test_options_and_environment_come_before_files(
    user_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file.write_text("timeout = 10\nmutants = 7\n")
    assert Settings.load().timeout_s == 10
    write_project("timeout = 45")
    assert (Settings.load().timeout_s, Settings.load().mutants) == (45, 7)
    Path(".env").write_text("EXECUTION_TIMEOUT_SECONDS=46\n")
    assert Settings.load().timeout_s == 46
    monkeypatch.setenv("EXECUTION_TIMEOUT_SECONDS", "47")
    assert Settings.load().timeout_s == 47
    assert Settings.load(timeout_s=48).timeout_s == 48


@pytest.mark.parametrize(("line", "said"), read_table(__file__, "what_a_project_may_not_set"))
def test_a_project_may_not_weaken(line: str, said: str) -> None:
    write_project(line)
    with pytest.raises(SettingsError) as caught:
        Settings.load()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_project_may_not_undercut_the_user(user_file: Path) -> None:
    user_file.write_text('min-mutation-score = "0.95"\nmutants = "all"\nsandbox = "native"\n')
    write_project("min-mutation-score = 0.9")
    with pytest.raises(SettingsError, match=r"below 0\.95"):
        Settings.load()
    write_project("mutants = 999")
    with pytest.raises(SettingsError, match="mutants below all"):
        Settings.load()
    write_project("min-mutation-score = 0.96")
    assert (Settings.load().min_mutation_score, Settings.load().sandbox) == (0.96, "native")


def test_a_wrong_value_is_named_by_the_source_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    write_project("timeout = 0")
    monkeypatch.setenv("EXECUTION_TIMEOUT_SECONDS", "0")
    with pytest.raises(
        SettingsError, match=r"^EXECUTION_TIMEOUT_SECONDS=0 must be greater than 0$"
    ):
        Settings.load()


def test_a_table_that_is_none_is_named() -> None:
    Path("pyproject.toml").write_text("[tool]\ngreenloop = 3\n")
    with pytest.raises(SettingsError, match=r"pyproject.toml: \[tool.greenloop\] must be a table"):
        Settings.load()


def test_a_broken_file_is_named() -> None:
    write_project("x =")
    with pytest.raises(SettingsError, match=r"pyproject.toml cannot be read: "):
        Settings.load()
