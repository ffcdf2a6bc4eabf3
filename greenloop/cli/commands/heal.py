"""`heal`: a script is repaired until it runs, a module until its tests pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from greenloop.agent import build_refusal_report
from greenloop.app.inputs.heal_files import read_layout, read_original
from greenloop.app.requests import build_script_request, to_absolute_path, with_absolute_replays
from greenloop.cli.commands.script import ScriptOptions, build_options, check_artifacts_folder
from greenloop.cli.confirm import check_terminal
from greenloop.cli.options.common import flags_from_parameters
from greenloop.cli.run_agent import finish_run, run_agent
from greenloop.errors import GreenloopError, InputError
from greenloop.llm.factory import is_model_disabled
from greenloop.settings import Settings
from greenloop.workflow.delivery import check_output_paths
from greenloop.workflow.report_builder import greenloop_version
from greenloop.workflow.storage.request import (
    HealModuleRequest,
    HealRequest,
    HealScriptRequest,
    select_saved_options,
)


@dataclass(frozen=True)
class HealOptions(ScriptOptions):
    """What is typed besides the settings."""

    tests: Sequence[Path] = ()
    seconds: float | None = None
    write: bool = False


def heal_from_parameters(parameters: dict[str, Any]) -> int:
    """`greenloop heal` from its parameters: the exit status."""
    options = replace(build_options(HealOptions, parameters), write=parameters["yes"])
    return heal_command(parameters["file"], options, flags_from_parameters(parameters))


def heal_command(file: Path, options: HealOptions, flags: dict[str, Any]) -> int:
    """`greenloop heal`: the exit status."""
    settings = Settings.model_construct()
    try:
        settings = Settings.load(**flags)
        request = _build_request(file, options, settings)
        check_output_paths(request)
        check_artifacts_folder(options.artifacts)
        if options.approve:
            check_terminal()
    except GreenloopError as error:
        error.report = build_refusal_report(settings, "", error, options.run_dir)
        return finish_run(error.report, error, options)
    return run_agent(lambda agent: agent.run(request, options.run_dir), request, settings, options)


def _build_request(file: Path, options: HealOptions, settings: Settings) -> HealRequest:
    original = read_original(file)
    fields: dict[str, Any] = {
        "original": original,
        "output": to_absolute_path(options.output),
        "record": to_absolute_path(options.record),
        "write": options.write,
        "options": with_absolute_replays(select_saved_options(settings)),
        "greenloop": greenloop_version(),
    }
    if not options.tests:
        if is_model_disabled(settings):
            raise InputError("--model none searches with tests as its guide: name them by --tests")
        return HealScriptRequest(script=build_script_request(original.name, options), **fields)
    _check_no_script_options(options)
    layout = read_layout(file, options.tests)
    return HealModuleRequest(
        module=layout.module,
        given=layout.tests,
        project=layout.project,
        search_s=options.seconds,
        **fields,
    )


def _check_no_script_options(options: HealOptions) -> None:
    """Raises InputError where something is asked for that only a script has."""
    asked = {
        "arguments after --": options.arguments,
        "--input": options.inputs,
        "--stdin": options.stdin,
        "--expect": options.expected.texts,
        "--expect-file": options.expected.files,
        "--expect-json-schema": options.expected.schema,
        "--allow-network": options.allow_network,
        "--artifacts": options.artifacts,
    }
    if wrong := [name for name, value in asked.items() if value]:
        raise InputError(f"{wrong[0]}: for scripts alone; with --tests the tests say what is right")
