"""The command `heal`: repair a script until it runs, or a module until its tests pass."""

from dataclasses import fields

from greenloop.app.inputs.heal_files import read_layout, read_original
from greenloop.app.requests import ScriptArguments, build_script_request
from greenloop.cli.commands.script import read_arguments
from greenloop.cli.options.runs import HealOptions
from greenloop.cli.process import print_error
from greenloop.cli.run_agent import build_new_request, start_run
from greenloop.errors import InputError
from greenloop.project.environment.discovery import install_declared_packages
from greenloop.settings import Settings
from greenloop.workflow.heal.request import HealModuleRequest, HealRequest, HealScriptRequest


def heal_command(options: HealOptions) -> int:
    """Run `greenloop heal` and return the exit status."""
    return start_run(options, _build_request)


def _build_request(options: HealOptions, settings: Settings) -> HealRequest:
    original = read_original(options.file)
    common = {"original": original, "write": options.yes}
    if not options.tests:
        if settings.is_model_disabled:
            raise InputError("--model none repairs by search, which needs tests: add --tests")
        script = build_script_request(original.name, read_arguments(options))
        return build_new_request(HealScriptRequest, options, settings, script=script, **common)
    for name in (item.name for item in fields(ScriptArguments)):
        if getattr(options, name):
            shown = "an argument after --" if name == "arguments" else f"--{name.replace('_', '-')}"
            raise InputError(
                f"{shown} is for scripts only; with --tests the tests define the result"
            )
    if options.install:
        install_declared_packages(options.file, print_error)
    module, given, project = read_layout(options.file, options.tests, settings.python)
    return build_new_request(
        HealModuleRequest,
        options,
        settings,
        module=module,
        given=given,
        project=project,
        search_s=options.seconds,
        **common,
    )
