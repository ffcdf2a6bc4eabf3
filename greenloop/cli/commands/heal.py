"""The command `heal`: repair a script until it runs, or a module until its tests pass."""

from __future__ import annotations

from typing import Any

from greenloop.app.inputs.heal_files import read_layout, read_original
from greenloop.app.requests import build_script_request, to_absolute_path, with_absolute_replays
from greenloop.cli.commands.script import read_arguments
from greenloop.cli.finish import load_settings
from greenloop.cli.options.runs import HealOptions
from greenloop.cli.run_agent import check_run, refuse_run, run_agent
from greenloop.errors import GreenloopError, InputError
from greenloop.llm.factory import is_model_disabled
from greenloop.settings import Settings
from greenloop.workflow.report_builder import greenloop_version
from greenloop.workflow.storage.request import (
    HealModuleRequest,
    HealRequest,
    HealScriptRequest,
    select_saved_options,
)


def heal_command(options: HealOptions) -> int:
    """Run `greenloop heal` and return the exit status."""
    try:
        settings = load_settings(options)
        request = _build_request(options, settings)
        check_run(request, options)
    except GreenloopError as error:
        return refuse_run(error, options)
    return run_agent(request, settings, options)


def _build_request(options: HealOptions, settings: Settings) -> HealRequest:
    original = read_original(options.file)
    fields: dict[str, Any] = {
        "original": original,
        "output": to_absolute_path(options.output),
        "record": to_absolute_path(options.record),
        "write": options.yes,
        "options": with_absolute_replays(select_saved_options(settings)),
        "greenloop": greenloop_version(),
    }
    if not options.tests:
        if is_model_disabled(settings):
            raise InputError("--model none repairs by search, which needs tests: add --tests")
        script = build_script_request(original.name, read_arguments(options))
        return HealScriptRequest(script=script, **fields)
    _check_no_script_options(options)
    layout = read_layout(options.file, options.tests)
    return HealModuleRequest(
        module=layout.module,
        given=layout.tests,
        project=layout.project,
        search_s=options.seconds,
        **fields,
    )


def _check_no_script_options(options: HealOptions) -> None:
    """Raise InputError if an option was given that only scripts have."""
    given = {
        "arguments after --": options.arguments,
        "--input": options.input,
        "--stdin": options.stdin,
        "--expect": options.expect,
        "--expect-file": options.expect_file,
        "--expect-json-schema": options.expect_json_schema,
        "--allow-network": options.allow_network,
        "--artifacts": options.artifacts,
    }
    if wrong := [name for name, value in given.items() if value]:
        raise InputError(f"{wrong[0]}: only for scripts; with --tests the tests define the result")
