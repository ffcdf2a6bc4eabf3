"""The command `check`: grade existing code and tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenloop.cli.options.common import RunOptions
from greenloop.cli.options.runs import CheckOptions
from greenloop.errors import GreenloopError, InputError
from greenloop.sandbox.opening import SandboxOpening

if TYPE_CHECKING:
    from greenloop.events import EventSink
    from greenloop.records import Report
    from greenloop.sandbox import Sandbox
    from greenloop.settings import Settings

    CheckResult = tuple[Report, GreenloopError | None]
    CheckWork = Callable[
        [Callable[[], Awaitable[Sandbox]], EventSink], Coroutine[Any, Any, CheckResult]
    ]

# Nearly everything is imported while the sandbox opens: the settings first, then what grades.


def check_command(options: CheckOptions) -> int:
    """Run `greenloop check` and return the exit status."""
    if options.spec is None and options.model and not options.watch:
        raise InputError("--model is used only for --spec TEXT; add it")
    if options.watch and (options.spec is not None or options.json):
        raise InputError("--watch shows its results at a terminal: leave out --spec and --json")
    if options.diff is not None and (options.code is not None or options.spec is not None):
        raise InputError(
            "--diff grades all changed lines of a project; it takes no files and no --spec"
        )
    if options.diff is not None:
        return (_watch_diff if options.watch else _check_diff)(options.diff, options)
    if options.code is None or not options.tests:
        raise InputError("name the module's file and its test files, or a commit with --diff")
    if options.watch:
        return _watch(options.code, options.tests, options)
    if options.spec is not None:
        return _check_against_text(options.spec, options.code, options.tests, options)
    return _check_files(options.code, options.tests, options)


def _check_files(code: Path, tests: Sequence[Path], options: CheckOptions) -> int:
    with SandboxOpening(options.sandbox) as opening:
        from greenloop.cli.finish import load_settings

        settings = load_settings(options)
        opening.begin(settings)

        from greenloop.app.check import check_files, create_check_directory
        from greenloop.app.inputs.check_files import read_check_inputs
        from greenloop.grading.reruns import HASH_SEED

        opening.prepare_hash_seed(HASH_SEED)
        inputs = read_check_inputs(code, tests)
        directory = create_check_directory(settings, inputs, options.run_dir)
        return _run_check(
            partial(check_files, inputs, code, directory, settings), opening, options, settings
        )


def _check_diff(ref: str, options: CheckOptions) -> int:
    with SandboxOpening(options.sandbox) as opening:
        from greenloop.cli.finish import load_settings

        settings = load_settings(options)
        opening.begin(settings)

        from greenloop.app.check_diff import check_diff, create_diff_directory
        from greenloop.project.diff import read_diff

        diff = read_diff(options.root, ref)
        directory = create_diff_directory(settings, diff, options.run_dir)
        return _run_check(
            partial(check_diff, diff, directory, settings), opening, options, settings
        )


def _watch_diff(ref: str, options: CheckOptions) -> int:
    from greenloop.app.watch import WatchedProject
    from greenloop.cli.finish import load_settings
    from greenloop.cli.watch import watch

    settings = load_settings(options)
    return watch(WatchedProject.create(options.root, ref, settings, options.run_dir), settings)


def _watch(code: Path, tests: Sequence[Path], options: CheckOptions) -> int:
    from greenloop.app.watch import WatchedModule
    from greenloop.cli.finish import load_settings
    from greenloop.cli.watch import watch

    settings = load_settings(options)
    return watch(WatchedModule.create(code, tests, settings, options.run_dir), settings)


def _run_check(
    work: CheckWork, opening: SandboxOpening, options: CheckOptions, settings: Settings
) -> int:
    from greenloop.cli.finish import finish_run, write_outputs
    from greenloop.cli.process import run_with_signals
    from greenloop.reporting.progress.renderer import create_progress
    from greenloop.workflow.delivery import meets_requirement

    with create_progress(quiet=options.quiet, verbose=options.verbose) as progress:
        report, error = run_with_signals(work(opening.wait, progress))
    if options.markdown is not None:
        from greenloop.reporting.formats.markdown import render_markdown

        write_outputs(report, (options.markdown, render_markdown))
    status = 0 if meets_requirement(report, settings.require) else 1
    return finish_run(report, error, options, status)


def _check_against_text(spec: str, code: Path, tests: Sequence[Path], options: CheckOptions) -> int:
    """Check with a model that reads what the code should do; a plain check loads no LangChain."""
    from greenloop.app.inputs.check_files import read_check_inputs
    from greenloop.app.inputs.specification import read_specification
    from greenloop.app.requests import build_request, to_absolute_path
    from greenloop.cli.finish import load_settings
    from greenloop.cli.run_agent import run_agent
    from greenloop.llm.factory import check_models
    from greenloop.workflow.storage.request import CheckRequest, GivenTests

    settings = load_settings(options)
    inputs = read_check_inputs(code, tests)
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
