"""`make` and `resume`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.agent import build_refusal_report
from greenloop.app.inputs.specification import read_specification, read_tests, resolve_module_name
from greenloop.app.requests import to_absolute_path, with_absolute_replays
from greenloop.cli.confirm import check_terminal
from greenloop.cli.process import print_error
from greenloop.cli.run_agent import OutputOptions, finish_run, run_agent
from greenloop.errors import GreenloopError, InputError, OutputError
from greenloop.settings import Settings
from greenloop.workflow.delivery import check_output_paths
from greenloop.workflow.report_builder import greenloop_version
from greenloop.workflow.storage.request import (
    CheckRequest,
    HealRequest,
    MakeRequest,
    RunRequest,
    select_saved_options,
)
from greenloop.workflow.storage.run_dir import RunDirectory


@dataclass(frozen=True)
class MakeOptions(OutputOptions):
    """What is typed besides the settings."""

    output: Path | None = None
    tests_output: Path | None = None
    tests: tuple[Path, ...] = ()
    record: Path | None = None


def make_command(spec: str, options: MakeOptions, flags: dict[str, Any]) -> int:
    """`greenloop make`: the exit status."""
    settings = Settings.model_construct()
    try:
        settings = Settings.load(**flags)
        request = _build_request(spec, options, settings)
        check_output_paths(request)
        if options.approve:
            check_terminal()
    except GreenloopError as error:
        error.report = build_refusal_report(settings, spec, error, options.run_dir)
        return finish_run(error.report, error, options)
    return run_agent(lambda agent: agent.run(request, options.run_dir), request, settings, options)


def resume_command(run_dir: Path, options: MakeOptions, flags: dict[str, Any]) -> int:
    """`greenloop resume`: the exit status."""
    try:
        directory = RunDirectory.open(run_dir)
        request = directory.load_request()
        has_work = request.specification or isinstance(request, HealRequest)
        if isinstance(request, CheckRequest) or not has_work:
            raise InputError(f"{run_dir} is that of a check: run the check again instead")
        settings = Settings.load(
            **{
                **request.options,
                **_drop_unset_flags(flags),
                **_merge_allowed_packages(request, flags),
            }
        )
        check_output_paths(request)
        if options.approve:
            check_terminal()
    except GreenloopError as error:
        return finish_run(
            build_refusal_report(Settings.model_construct(), "", error, None), error, options
        )
    if request.greenloop != greenloop_version():
        print_error(
            f"the run was begun by greenloop {request.greenloop}: answers may be asked for again"
        )
    return run_agent(lambda agent: agent.resume(directory), request, settings, options)


def _build_request(spec: str, options: MakeOptions, settings: Settings) -> MakeRequest:
    specification = read_specification(spec)
    given = read_tests(options.tests)
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


def _drop_unset_flags(flags: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in flags.items() if value is not None}


def _merge_allowed_packages(request: RunRequest, flags: dict[str, Any]) -> dict[str, str]:
    """What is allowed now comes on top of what was allowed before."""
    allowed = (request.options.get("allow_package"), flags.get("allow_package"))
    return {"allow_package": ",".join(str(item) for item in allowed if item)}


def _check_collisions(options: MakeOptions, settings: Settings, specification: Path | None) -> None:
    """Raises OutputError where a result would be written over another one, or over an input."""
    inputs = [*options.tests, *([specification] if specification else [])]
    for name in (settings.model, settings.fallback_model):
        inputs += [Path(name[7:])] if name and name.startswith("replay:") else []
    seen = {path.absolute().resolve(): "an input of this run" for path in inputs}
    places = {
        "--output": options.output,
        "--tests-output": options.tests_output,
        "--record": options.record,
    }
    for flag, path in places.items():
        if path is None:
            continue
        if why := seen.get(path.absolute().resolve()):
            raise OutputError(f"{flag} {path} would be written over {why}")
        seen[path.absolute().resolve()] = f"the file of {flag}"
