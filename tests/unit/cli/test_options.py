"""Declared options of the commands, and what is read from them."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from greenloop.agent import run_coding_agent
from greenloop.cli.main import app
from greenloop.cli.options.commands import COMMANDS
from greenloop.cli.options.declaration import build_command
from greenloop.cli.options.runs import HealOptions, MakeOptions
from greenloop.cli.usage import Command
from greenloop.errors import SettingsError, SpecificationError
from greenloop.settings import Settings, list_settings


@pytest.mark.parametrize("name", COMMANDS)
def test_each_declared_command_has_a_function(name: str) -> None:
    module = import_module(f"greenloop.cli.commands.{name}")
    assert callable(getattr(module, f"{name}_command"))


@pytest.mark.parametrize("name", COMMANDS)
def test_each_named_setting_is_one_with_an_option(name: str) -> None:
    known = {item.name for item in list_settings() if item.has_option}
    assert set(COMMANDS[name].settings) <= known


def test_given_options_override_settings_and_repeated_ones_are_joined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[MakeOptions] = []
    monkeypatch.setattr(
        "greenloop.cli.process.run_command", lambda name, options: ran.append(options) or 0
    )
    given = ["--timeout", "5", "--allow-package", "numpy", "--allow-package", "lxml", "--no-peer"]
    with pytest.raises(SystemExit):
        app(["make", "some text", *given], prog_name="greenloop")
    found = Settings.load(**ran[0].given)
    assert (found.timeout_s, found.allow_package, found.peer) == (5, "numpy,lxml", False)
    assert set(ran[0].given) == {"timeout_s", "allow_package", "peer"}


def test_what_is_no_setting_is_refused_with_a_suggestion() -> None:
    with pytest.raises(SettingsError, match=r"modle is not a setting; did you mean model\?"):
        Settings(modle="openai:x")
    with pytest.raises(SettingsError, match=r"did you mean max_cost\?"):
        run_coding_agent("a text", max_cots=1)  # type: ignore[call-arg, unused-ignore]


@pytest.mark.parametrize("text", ["", " ", "durations", "spec.md", "src/spec", "\ud800 f"])
def test_python_takes_no_word_and_no_path(tmp_path: Path, text: str) -> None:
    with pytest.raises(SpecificationError):
        run_coding_agent(text, model="replay:none.jsonl", home=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["make", "script", "heal", "batch"])
def test_prompts_can_be_given_to_commands_that_begin_runs(name: str) -> None:
    assert "prompts" in COMMANDS[name].settings


def test_required_parameters_come_first() -> None:
    command = build_command("heal", HealOptions, Command)
    arguments = [item.name for item in command.params if item.param_type_name == "argument"]
    assert arguments == ["file", "arguments"]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples_and_metavars_that_people_know(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        app([name, "--help"], prog_name="greenloop")
    text = capsys.readouterr().out
    assert ended.value.code == 0
    assert f"\nExamples:\n  greenloop {'' if name == 'make' else name}" in text
    assert not re.findall(r"<(?:str|int|float|path|list)", text)
    assert "Output:\n" in text or name in ("init", "gate", "mcp", "verify", "doctor", "report")


def test_the_list_of_commands_is_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        app(["--help"], prog_name="greenloop")
    text = capsys.readouterr().out
    assert text.startswith('Usage: greenloop "Write a function that …" [OPTIONS]\n')
    assert "..." not in text.partition("Commands:")[2]
