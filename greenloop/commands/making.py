"""`make` and `resume`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.agent import CodingAgent, refused
from greenloop.commands.approval import always, ask, check_terminal
from greenloop.commands.running import complain, run_to_end
from greenloop.commands.specifications import module_name, read_specification, read_tests
from greenloop.errors import GreenloopError, InputError, InterruptedRunError, OutputError
from greenloop.events import Emit, Event, RunFinished
from greenloop.records import Report
from greenloop.reporting.progress import progress
from greenloop.reporting.summary import as_comments, short_verdict
from greenloop.settings import Settings
from greenloop.way.leaving import check_outputs, deliver, reached
from greenloop.way.reporting import own_version
from greenloop.way.request import KeptOptions, RunRequest, kept_options
from greenloop.way.run_dir import RunDirectory

Run = Callable[[CodingAgent], Coroutine[Any, Any, Report]]


@dataclass(frozen=True)
class MakeOptions:
    """What is typed besides the settings."""

    output: Path | None = None
    tests_output: Path | None = None
    tests: tuple[Path, ...] = ()
    run_dir: Path | None = None
    record: Path | None = None
    keep_best: bool = False
    approve: bool = False
    json: bool = False
    quiet: bool = False
    verbose: bool = False


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
        return _end(error.report, error, options)
    return _run(lambda agent: agent.run(request, options.run_dir), request, settings, options)


def resume_command(run_dir: Path, options: MakeOptions, flags: dict[str, Any]) -> int:
    """`greenloop resume`: the exit status."""
    try:
        directory = RunDirectory.open(run_dir)
        request = directory.load_request()
        if not request.specification:
            raise InputError(f"{run_dir} is that of a check: run the check again instead")
        settings = Settings.load(**{**request.options, **_given(flags), **_more(request, flags)})
        check_outputs(request)
        if options.approve:
            check_terminal()
    except GreenloopError as error:
        return _end(refused(Settings.model_construct(), "", error, None), error, options)
    if request.greenloop != own_version():
        complain(
            f"the run was begun by greenloop {request.greenloop}: answers may be asked for again"
        )
    return _run(lambda agent: agent.resume(directory), request, settings, options)


def _request(spec: str, options: MakeOptions, settings: Settings) -> RunRequest:
    specification = read_specification(spec)
    given = read_tests(options.tests)
    _check_collisions(options, settings, specification.path)
    return RunRequest(
        specification=specification.text,
        module=module_name(specification, options.output, given, settings.allow_list.modules),
        given=given,
        output=_absolute(options.output),
        tests_output=_absolute(options.tests_output),
        record=_absolute(options.record),
        keep_best=options.keep_best,
        options=_with_absolute_replays(kept_options(settings)),
        greenloop=own_version(),
    )


def _run(run: Run, request: RunRequest, settings: Settings, options: MakeOptions) -> int:
    broken_off: GreenloopError | None = None
    with progress(quiet=options.quiet, verbose=options.verbose) as show:
        last = _Last(show)
        try:
            report: Report | None = run_to_end(run(CodingAgent(settings, emit=last)))
        except asyncio.CancelledError:
            report, broken_off = last.report, _interrupted(last.report)
        except GreenloopError as error:
            report, broken_off = error.report, error
    if report is None:
        assert broken_off is not None
        return _end(refused(settings, request.specification, broken_off, None), broken_off, options)
    status = 0 if reached(report, settings.require) else 1
    if broken_off is None or not isinstance(broken_off, InterruptedRunError):
        keep = options.keep_best or request.keep_best
        if (status == 0 and broken_off is None) or keep:
            try:
                report = _delivered(report, request, options)
            except OutputError as error:
                broken_off = broken_off or error
    return _end(report, broken_off, options, status)


class _Last:
    """Passes events on and keeps the report, which a cancelled run cannot hand back."""

    def __init__(self, show: Emit) -> None:
        self._show = show
        self.report: Report | None = None

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunFinished):
            self.report = event.report
        self._show(event)


def _interrupted(report: Report | None) -> InterruptedRunError:
    """What the person is told who stopped a run."""
    run_dir = report.artifacts.run_dir if report else None
    return InterruptedRunError(
        f"interrupted; go on with: greenloop resume {run_dir}" if run_dir else "interrupted"
    )


def _delivered(report: Report, request: RunRequest, options: MakeOptions) -> Report:
    report = deliver(report, request, ask if options.approve else always)
    if report.artifacts.run_dir:
        RunDirectory(Path(report.artifacts.run_dir)).save_report(report)
    return report


def _end(
    report: Report, error: GreenloopError | None, options: MakeOptions, status: int = 1
) -> int:
    """Prints what was reached, and the error if there was one; the exit status."""
    try:
        _print(report, options)
    except OSError as problem:
        if isinstance(problem, BrokenPipeError):
            raise
        error = error or OutputError(f"standard output cannot be written: {problem.strerror}")
    if error is None:
        return status
    complain(str(error))
    if report.artifacts.report and not options.json:
        print(f"report: {report.artifacts.report}", file=sys.stderr)
    return error.exit_status


def _print(report: Report, options: MakeOptions) -> None:
    if options.json:
        print(report.model_dump_json(indent=1))
    elif report.final_code:
        sys.stdout.write(report.final_code.rstrip("\n") + "\n\n")
        sys.stdout.write(as_comments(short_verdict(report)))
    sys.stdout.flush()


def _absolute(path: Path | None) -> str | None:
    return str(path.absolute()) if path is not None else None


def _given(flags: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in flags.items() if value is not None}


def _more(request: RunRequest, flags: dict[str, Any]) -> dict[str, str]:
    """What is allowed now comes on top of what was allowed before."""
    allowed = (request.options.get("allow_package"), flags.get("allow_package"))
    return {"allow_package": ",".join(str(item) for item in allowed if item)}


def _with_absolute_replays(kept: KeptOptions) -> KeptOptions:
    """A replay file's path as it will still mean the same file when the run is resumed elsewhere."""
    names = ("model", "fallback_model")
    replays = {name: str(kept[name]) for name in names if str(kept[name]).startswith("replay:")}
    return {
        **kept,
        **{name: f"replay:{Path(text[7:]).absolute()}" for name, text in replays.items()},
    }


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
