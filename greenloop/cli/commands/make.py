"""`make` and `resume`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.agent import refused
from greenloop.app.inputs.specification import module_name, read_specification, read_tests
from greenloop.app.requests import absolute, with_absolute_replays
from greenloop.cli.confirm import check_terminal
from greenloop.cli.process import complain
from greenloop.cli.run_agent import Shown, carry_out, end
from greenloop.errors import GreenloopError, InputError, OutputError
from greenloop.settings import Settings
from greenloop.workflow.delivery import check_outputs
from greenloop.workflow.report_builder import own_version
from greenloop.workflow.storage.request import RunRequest, kept_options
from greenloop.workflow.storage.run_dir import RunDirectory


@dataclass(frozen=True)
class MakeOptions(Shown):
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
        request = _request(spec, options, settings)
        check_outputs(request)
        if options.approve:
            check_terminal()
    except GreenloopError as error:
        error.report = refused(settings, spec, error, options.run_dir)
        return end(error.report, error, options)
    return carry_out(lambda agent: agent.run(request, options.run_dir), request, settings, options)


def resume_command(run_dir: Path, options: MakeOptions, flags: dict[str, Any]) -> int:
    """`greenloop resume`: the exit status."""
    try:
        directory = RunDirectory.open(run_dir)
        request = directory.load_request()
        if request.kind == "check" or not (request.specification or request.original):
            raise InputError(f"{run_dir} is that of a check: run the check again instead")
        settings = Settings.load(**{**request.options, **_given(flags), **_more(request, flags)})
        check_outputs(request)
        if options.approve:
            check_terminal()
    except GreenloopError as error:
        return end(refused(Settings.model_construct(), "", error, None), error, options)
    if request.greenloop != own_version():
        complain(
            f"the run was begun by greenloop {request.greenloop}: answers may be asked for again"
        )
    return carry_out(lambda agent: agent.resume(directory), request, settings, options)


def _request(spec: str, options: MakeOptions, settings: Settings) -> RunRequest:
    specification = read_specification(spec)
    given = read_tests(options.tests)
    _check_collisions(options, settings, specification.path)
    return RunRequest(
        specification=specification.text,
        module=module_name(specification, options.output, given, settings.allow_list.modules),
        given=given,
        output=absolute(options.output),
        tests_output=absolute(options.tests_output),
        record=absolute(options.record),
        keep_best=options.keep_best,
        options=with_absolute_replays(kept_options(settings)),
        greenloop=own_version(),
    )


def _given(flags: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in flags.items() if value is not None}


def _more(request: RunRequest, flags: dict[str, Any]) -> dict[str, str]:
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
