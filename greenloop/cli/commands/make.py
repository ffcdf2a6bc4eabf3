"""The command `make`: code and tests from a specification."""

from __future__ import annotations

from pathlib import Path

from greenloop.app.inputs.specification import read_specification, read_tests, resolve_module_name
from greenloop.app.requests import to_absolute_path, with_absolute_replays
from greenloop.cli.finish import load_settings
from greenloop.cli.options.commands import COMMANDS
from greenloop.cli.options.runs import MakeOptions
from greenloop.cli.run_agent import check_run, refuse_run, run_agent
from greenloop.errors import GreenloopError, OutputError
from greenloop.settings import Settings
from greenloop.workflow.report_builder import greenloop_version
from greenloop.workflow.storage.request import MakeRequest, select_saved_options


def make_command(options: MakeOptions) -> int:
    """Run `greenloop make` and return the exit status."""
    try:
        settings = load_settings(options)
        request = _build_request(options, settings)
        check_run(request, options)
    except GreenloopError as error:
        return refuse_run(error, options, options.spec)
    return run_agent(request, settings, options)


def _build_request(options: MakeOptions, settings: Settings) -> MakeRequest:
    specification = read_specification(options.spec, COMMANDS)
    given = read_tests(tuple(options.tests or ()))
    _check_collisions(options, settings, specification.path)
    return MakeRequest(
        specification=specification.text,
        module=resolve_module_name(
            specification, options.output, given, settings.allow_list.import_names
        ),
        given=given,
        output=to_absolute_path(options.output),
        tests_output=to_absolute_path(options.tests_output),
        record=to_absolute_path(options.record),
        keep_best=options.keep_best,
        options=with_absolute_replays(select_saved_options(settings)),
        greenloop=greenloop_version(),
    )


def _check_collisions(options: MakeOptions, settings: Settings, specification: Path | None) -> None:
    """Raise OutputError if an output would overwrite an input or another output."""
    inputs = [*(options.tests or ()), *([specification] if specification else [])]
    for name in (settings.model, settings.fallback_model):
        inputs += [Path(name[7:])] if name and name.startswith("replay:") else []
    seen = {path.absolute().resolve(): "an input of this run" for path in inputs}
    outputs = {
        "--output": options.output,
        "--tests-output": options.tests_output,
        "--record": options.record,
    }
    for flag, path in outputs.items():
        if path is None:
            continue
        if description := seen.get(path.absolute().resolve()):
            raise OutputError(f"{flag} {path} would overwrite {description}")
        seen[path.absolute().resolve()] = f"the file of {flag}"
