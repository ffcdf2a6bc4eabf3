"""Declared options of the commands, and what is read from them."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from greenloop.cli.main import app
from greenloop.cli.options.commands import COMMANDS, load_options
from greenloop.cli.options.declaration import build_command, collect_settings
from greenloop.cli.options.runs import MakeOptions
from greenloop.cli.options.script import HealOptions
from greenloop.settings import Settings


@pytest.mark.parametrize("name", COMMANDS)
def test_each_declared_command_has_a_function(name: str) -> None:
    module = import_module(f"greenloop.cli.commands.{name}")
    assert callable(getattr(module, f"{name}_command"))


@pytest.mark.parametrize("options", [MakeOptions, HealOptions])
def test_marked_options_are_settings(options: type) -> None:
    required = {"spec": "text"} if options is MakeOptions else {"file": "f.py"}
    assert set(collect_settings(options(**required))) <= set(Settings.model_fields)


def test_given_options_override_settings_and_repeated_ones_are_joined() -> None:
    options = MakeOptions(spec="text", timeout=5.0, allow_package=["numpy", "lxml"], prompts="p")
    found = {name: value for name, value in collect_settings(options).items() if value is not None}
    assert found == {"timeout_s": 5.0, "allow_package": "numpy,lxml", "prompts": "p"}


@pytest.mark.parametrize("name", ["make", "script", "heal", "batch"])
def test_prompts_can_be_given_to_commands_that_begin_runs(name: str) -> None:
    bases = load_options(name).__mro__
    assert any("prompts" in getattr(base, "__annotations__", {}) for base in bases)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_shows_the_first_sentence_of_each_help_text(name: str) -> None:
    _, summary = COMMANDS[name]
    assert str(load_options(name).__doc__).startswith(summary)


def test_required_parameters_come_first() -> None:
    command = build_command("heal", HealOptions)
    arguments = [item.name for item in command.params if item.param_type_name == "argument"]
    assert arguments == ["file", "arguments"]
    assert command.params[0].name == "file"


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
    assert "Output:\n" in text or name in ("init", "mcp", "verify", "doctor", "report")


def test_the_list_of_commands_is_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        app(["--help"], prog_name="greenloop")
    text = capsys.readouterr().out
    assert text.startswith('Usage: greenloop "Write a function that …" [OPTIONS]\n')
    assert "..." not in text.partition("Commands:")[2]
