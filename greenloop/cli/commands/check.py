"""The command `check`: grade existing code and tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from greenloop.app.inputs.check_files import CheckInputs, read_check_inputs
from greenloop.cli.finish import finish_run, load_settings
from greenloop.cli.options.common import RunOptions
from greenloop.cli.options.runs import CheckOptions
from greenloop.cli.process import run_with_signals
from greenloop.errors import GreenloopError, InputError
from greenloop.records import Report
from greenloop.sandbox.opening import SandboxOpening
from greenloop.settings import Settings

if TYPE_CHECKING:
    from greenloop.events import EventSink
    from greenloop.sandbox import Sandbox

    CheckResult = tuple[Report, GreenloopError | None]
    CheckWork = Callable[
        [Callable[[], Awaitable[Sandbox]], EventSink], Coroutine[Any, Any, CheckResult]
    ]

# What measures and reports is imported while the sandbox opens.


def check_command(options: CheckOptions) -> int:
    """Run `greenloop check` and return the exit status."""
    settings = load_settings(options)
    if options.spec is None and options.model and not options.watch:
        raise InputError("--model is used only for --spec TEXT; add it")
    if options.watch:
        return _watch(options, settings)
    if options.diff is not None:
        return _check_diff(options.diff, options, settings)
    if options.code is None or not options.tests:
        raise InputError("name the module's file and its test files, or a commit with --diff")
    inputs = read_check_inputs(options.code, options.tests)
    if options.spec is not None:
        return _check_against_text(options.spec, inputs, options, settings)
    with SandboxOpening(settings) as opening:
        from greenloop.app.check import check_files, create_check_directory

        directory = create_check_directory(settings, inputs, options.run_dir)
        work = partial(check_files, inputs, options.code, directory, settings)
        return _run_check(work, opening, options, settings)


def _watch(options: CheckOptions, settings: Settings) -> int:
    from greenloop.app.watch import WatchedModule, WatchedProject
    from greenloop.cli.watch import watch

    if options.spec is not None or options.json:
        raise InputError("--watch shows its results at a terminal: leave out --spec and --json")
    if options.diff is not None:
        project = WatchedProject.create(options.root, options.diff, settings, options.run_dir)
        return watch(project, settings)
    if options.code is None or not options.tests:
        raise InputError("name the module's file and its test files, or a commit with --diff")
    return watch(
        WatchedModule.create(options.code, options.tests, settings, options.run_dir), settings
    )


def _check_diff(ref: str, options: CheckOptions, settings: Settings) -> int:
    if options.code is not None or options.spec is not None:
        raise InputError(
            "--diff grades all changed lines of a project; it takes no files and no --spec"
        )
    from greenloop.project.diff import read_diff

    diff = read_diff(options.root, ref)
    with SandboxOpening(settings) as opening:
        from greenloop.app.check_diff import check_diff, create_diff_directory

        directory = create_diff_directory(settings, diff, options.run_dir)
        work = partial(check_diff, diff, directory, settings)
        return _run_check(work, opening, options, settings)


def _run_check(
    work: CheckWork, opening: SandboxOpening, options: CheckOptions, settings: Settings
) -> int:
    from greenloop.cli.commands.report import write_outputs
    from greenloop.reporting.formats.markdown import render_markdown
    from greenloop.reporting.progress.renderer import create_progress
    from greenloop.workflow.delivery import meets_requirement

    with create_progress(quiet=options.quiet, verbose=options.verbose) as progress:
        report, error = run_with_signals(work(opening.wait, progress))
    write_outputs(report, (options.markdown, render_markdown))
    status = 0 if meets_requirement(report, settings.require) else 1
    return finish_run(report, error, options, status)


def _check_against_text(
    spec: str, inputs: CheckInputs, options: CheckOptions, settings: Settings
) -> int:
    """Check with a model that reads what the code should do; a plain check loads no LangChain."""
    from greenloop.app.inputs.specification import read_specification
    from greenloop.app.requests import build_request, to_absolute_path
    from greenloop.cli.run_agent import run_agent
    from greenloop.llm.factory import check_models
    from greenloop.workflow.storage.request import CheckRequest, GivenTests

    if settings.model is None:
        raise InputError("--spec needs a model; name one with --model")
    request = build_request(
        CheckRequest,
        settings,
        specification=read_specification(spec).text,
        module=inputs.module,
        code=inputs.code,
        given=tuple(GivenTests.from_code(item.name, item.code) for item in inputs.tests),
        record=to_absolute_path(options.record),
    )
    check_models(settings)
    run_options = RunOptions(
        json=options.json, quiet=options.quiet, verbose=options.verbose, run_dir=options.run_dir
    )
    return run_agent(request, settings, run_options)
