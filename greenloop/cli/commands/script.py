"""The command `script`: a script for a task, and its checked output."""

from __future__ import annotations

from greenloop.app.inputs.specification import read_specification
from greenloop.app.requests import (
    OutputExpectations,
    ScriptArguments,
    build_script_request,
    to_absolute_path,
    with_absolute_replays,
)
from greenloop.cli.finish import load_settings
from greenloop.cli.options.commands import COMMANDS
from greenloop.cli.options.runs import ScriptOptions, ScriptRunOptions
from greenloop.cli.run_agent import check_run, refuse_run, run_agent
from greenloop.errors import GreenloopError, OutputError
from greenloop.settings import Settings
from greenloop.workflow.report_builder import greenloop_version
from greenloop.workflow.storage.request import ScriptRequest, select_saved_options


def script_command(options: ScriptOptions) -> int:
    """Run `greenloop script` and return the exit status."""
    try:
        settings = load_settings(options)
        request = _build_request(options, settings)
        check_run(request, options)
    except GreenloopError as error:
        return refuse_run(error, options, options.task)
    return run_agent(request, settings, options)


def _build_request(options: ScriptOptions, settings: Settings) -> ScriptRequest:
    name = options.output.name if options.output else "script.py"
    return ScriptRequest(
        specification=read_specification(options.task, COMMANDS).text,
        script=build_script_request(name, read_arguments(options)),
        output=to_absolute_path(options.output),
        record=to_absolute_path(options.record),
        keep_best=options.keep_best,
        options=with_absolute_replays(select_saved_options(settings)),
        greenloop=greenloop_version(),
    )


def read_arguments(options: ScriptRunOptions) -> ScriptArguments:
    """Return how the script is run and checked. Raises OutputError for `--artifacts FILE`."""
    artifacts = options.artifacts
    if artifacts is not None and artifacts.exists() and not artifacts.is_dir():
        raise OutputError(f"--artifacts {artifacts} is a file; name a folder")
    return ScriptArguments(
        artifacts=artifacts,
        inputs=options.input or (),
        stdin=options.stdin,
        arguments=options.arguments or (),
        expected=OutputExpectations(
            options.expect or (), options.expect_file or (), options.expect_json_schema
        ),
        allow_network=options.allow_network or (),
    )
