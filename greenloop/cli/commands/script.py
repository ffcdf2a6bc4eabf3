"""`script`: a task becomes a script whose output is checked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from greenloop.agent import build_refusal_report
from greenloop.app.inputs.specification import read_specification
from greenloop.app.requests import (
    OutputExpectations,
    ScriptArguments,
    build_script_request,
    to_absolute_path,
    with_absolute_replays,
)
from greenloop.cli.confirm import check_terminal
from greenloop.cli.options.common import flags_from_parameters
from greenloop.cli.run_agent import OutputOptions, finish_run, run_agent
from greenloop.errors import GreenloopError, OutputError
from greenloop.settings import Settings
from greenloop.workflow.delivery import check_output_paths
from greenloop.workflow.report_builder import greenloop_version
from greenloop.workflow.storage.request import ScriptRequest, select_saved_options


@dataclass(frozen=True)
class ScriptOptions(ScriptArguments, OutputOptions):
    """What is typed besides the settings."""

    output: Path | None = None
    record: Path | None = None


OptionsT = TypeVar("OptionsT", bound=ScriptOptions)


def build_options(options_class: type[OptionsT], parameters: dict[str, Any]) -> OptionsT:
    """What was typed, by parameter, as the options of a command."""
    expected = OutputExpectations(
        tuple(parameters["expect"] or ()),
        tuple(parameters["expect_file"] or ()),
        parameters["expect_json_schema"],
    )
    lists = ("arguments", "allow_network", "tests")
    values: dict[str, Any] = {n: tuple(parameters[n] or ()) for n in lists if n in parameters}
    values |= {"inputs": tuple(parameters["input"] or ()), "expected": expected}
    known = {item.name for item in fields(options_class)}
    return options_class(**{name: parameters[name] for name in known & set(parameters)} | values)


def script_from_parameters(parameters: dict[str, Any]) -> int:
    """`greenloop script` from its parameters: the exit status."""
    return script_command(
        parameters["task"],
        build_options(ScriptOptions, parameters),
        flags_from_parameters(parameters),
    )


def script_command(task: str, options: ScriptOptions, flags: dict[str, Any]) -> int:
    """`greenloop script`: the exit status."""
    settings = Settings.model_construct()
    try:
        settings = Settings.load(**flags)
        request = _build_request(task, options, settings)
        check_output_paths(request)
        check_artifacts_folder(options.artifacts)
        if options.approve:
            check_terminal()
    except GreenloopError as error:
        error.report = build_refusal_report(settings, task, error, options.run_dir)
        return finish_run(error.report, error, options)
    return run_agent(lambda agent: agent.run(request, options.run_dir), request, settings, options)


def check_artifacts_folder(path: Path | None) -> None:
    """Raises OutputError where `--artifacts` names something that is no folder."""
    if path is not None and path.exists() and not path.is_dir():
        raise OutputError(f"--artifacts {path} is a file; name a folder")


def _build_request(task: str, options: ScriptOptions, settings: Settings) -> ScriptRequest:
    name = options.output.name if options.output else "script.py"
    return ScriptRequest(
        specification=read_specification(task).text,
        script=build_script_request(name, options),
        output=to_absolute_path(options.output),
        record=to_absolute_path(options.record),
        keep_best=options.keep_best,
        options=with_absolute_replays(select_saved_options(settings)),
        greenloop=greenloop_version(),
    )
