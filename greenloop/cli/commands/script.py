"""`script`: a task becomes a script whose output is checked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from greenloop.agent import refused
from greenloop.app.inputs.specification import read_specification
from greenloop.app.requests import (
    Expected,
    ScriptArguments,
    absolute,
    script_request,
    with_absolute_replays,
)
from greenloop.cli.confirm import check_terminal
from greenloop.cli.options.common import flags_in
from greenloop.cli.run_agent import Shown, carry_out, end
from greenloop.errors import GreenloopError, OutputError
from greenloop.settings import Settings
from greenloop.workflow.delivery import check_outputs
from greenloop.workflow.report_builder import own_version
from greenloop.workflow.storage.request import RunRequest, kept_options


@dataclass(frozen=True)
class ScriptOptions(ScriptArguments, Shown):
    """What is typed besides the settings."""

    output: Path | None = None
    record: Path | None = None


Kind = TypeVar("Kind", bound=ScriptOptions)


def options_of(kind: type[Kind], typed: dict[str, Any]) -> Kind:
    """What was typed, by parameter, as the options of a command."""
    expected = Expected(
        tuple(typed["expect"] or ()), tuple(typed["expect_file"] or ()), typed["expect_json_schema"]
    )
    lists = ("arguments", "allow_network", "tests")
    values: dict[str, Any] = {n: tuple(typed[n] or ()) for n in lists if n in typed}
    values |= {"inputs": tuple(typed["input"] or ()), "expected": expected}
    known = {item.name for item in fields(kind)}
    return kind(**{name: typed[name] for name in known & set(typed)} | values)


def script_typed(typed: dict[str, Any]) -> int:
    """`greenloop script` from its parameters: the exit status."""
    return script_command(typed["task"], options_of(ScriptOptions, typed), flags_in(typed))


def script_command(task: str, options: ScriptOptions, flags: dict[str, Any]) -> int:
    """`greenloop script`: the exit status."""
    settings = Settings.model_construct()
    try:
        settings = Settings.load(**flags)
        request = _request(task, options, settings)
        check_outputs(request)
        check_folder(options.artifacts)
        if options.approve:
            check_terminal()
    except GreenloopError as error:
        error.report = refused(settings, task, error, options.run_dir)
        return end(error.report, error, options)
    return carry_out(lambda agent: agent.run(request, options.run_dir), request, settings, options)


def check_folder(path: Path | None) -> None:
    """Raises OutputError where `--artifacts` names something that is no folder."""
    if path is not None and path.exists() and not path.is_dir():
        raise OutputError(f"--artifacts {path} is a file; name a folder")


def _request(task: str, options: ScriptOptions, settings: Settings) -> RunRequest:
    name = options.output.name if options.output else "script.py"
    return RunRequest(
        kind="script",
        specification=read_specification(task).text,
        script=script_request(name, options),
        output=absolute(options.output),
        record=absolute(options.record),
        keep_best=options.keep_best,
        options=with_absolute_replays(kept_options(settings)),
        greenloop=own_version(),
    )
