"""Errors that end a command."""

import pytest

from greenloop import versions
from greenloop.cli import process
from greenloop.cli.options.tools import DoctorOptions


def install(*names: str) -> object:
    return lambda package: "0.2.0" if package in names else None


@pytest.fixture(autouse=True)
def missing_module(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise ModuleNotFoundError("No module named 'langchain_core'", name="langchain_core")

    monkeypatch.setattr(process, "import_module", fail)


def test_small_distribution_names_the_whole_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(versions, "get_installed_version", install("greenloop-check"))
    assert process.run_command("doctor", DoctorOptions()) == 3
    message = "greenloop: greenloop-check has no langchain_core, which this needs: pip install "
    assert capsys.readouterr().err.startswith(
        message
    )  # what follows is how greenloop was installed


@pytest.mark.parametrize("names", [["greenloop"], ["greenloop", "greenloop-check"], []])
def test_broken_installation_is_not_hidden(
    monkeypatch: pytest.MonkeyPatch, names: list[str]
) -> None:
    monkeypatch.setattr(versions, "get_installed_version", install(*names))
    with pytest.raises(ModuleNotFoundError):
        process.run_command("doctor", DoctorOptions())
