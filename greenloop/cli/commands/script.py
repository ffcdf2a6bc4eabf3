"""The command `script`: write a script for a task, run it and check its output."""

from dataclasses import fields

from greenloop.app.inputs.specification import read_specification
from greenloop.app.requests import ScriptArguments, build_script_request
from greenloop.cli.options.runs import ScriptOptions, ScriptRunOptions
from greenloop.cli.run_agent import build_new_request, start_run
from greenloop.errors import OutputError
from greenloop.settings import Settings
from greenloop.workflow.script.request import ScriptRequest


def script_command(options: ScriptOptions) -> int:
    """Run `greenloop script` and return the exit status."""
    return start_run(options, _build_request)


def _build_request(options: ScriptOptions, settings: Settings) -> ScriptRequest:
    name = options.output.name if options.output else "script.py"
    return build_new_request(
        ScriptRequest,
        options,
        settings,
        specification=read_specification(options.task).text,
        script=build_script_request(name, read_arguments(options)),
        keep_best=options.keep_best,
    )


def read_arguments(options: ScriptRunOptions) -> ScriptArguments:
    """Return the options to run and check a script. Raises OutputError for `--artifacts FILE`."""
    artifacts = options.artifacts
    if artifacts is not None and artifacts.exists() and not artifacts.is_dir():
        raise OutputError(f"--artifacts {artifacts} is a file; name a folder")
    return ScriptArguments(
        **{item.name: getattr(options, item.name) for item in fields(ScriptArguments)}
    )
