"""The command `check`: grade existing code and tests."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from greenloop.app.check import CheckResult, OpenSandbox, check_files, create_check_directory
from greenloop.app.check_diff import check_diff, create_diff_directory
from greenloop.app.inputs.check_files import read_check_inputs
from greenloop.app.inputs.project_module import find_project, read_project_module
from greenloop.app.inputs.specification import read_specification
from greenloop.app.requests import build_request, to_absolute_path
from greenloop.app.watch import WatchedModule, WatchedProject
from greenloop.cli.finish import finish_run, write_outputs
from greenloop.cli.options.checks import CheckOptions
from greenloop.cli.options.settings import load_settings
from greenloop.cli.options.shared import RunOptions
from greenloop.cli.process import check_terminal, run_with_signals
from greenloop.cli.watch import watch
from greenloop.errors import InputError
from greenloop.events import EventSink
from greenloop.project.diff import read_diff
from greenloop.records.report import meets_requirement
from greenloop.reporting.formats.markdown import render_markdown
from greenloop.reporting.progress.renderer import create_progress
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.workflow.check.request import CheckRequest
from greenloop.workflow.storage.request import GivenTests

CheckWork = Callable[[OpenSandbox, EventSink], Coroutine[Any, Any, CheckResult]]


def check_command(options: CheckOptions) -> int:
    """Run `greenloop check` and return the exit status."""
    if options.spec is None and "model" in options.given and not options.watch:
        raise InputError("--model is used only for --spec TEXT; add it")
    if options.watch and (options.spec is not None or options.json):
        raise InputError("--watch shows its results at a terminal: leave out --spec and --json")
    if options.diff is not None and (options.code is not None or options.spec is not None):
        raise InputError(
            "--diff grades all changed lines of a project; it takes no files and no --spec"
        )
    if options.watch:
        return _watch(options)
    if options.spec is not None:
        return _check_against_text(options.spec, options)
    settings = load_settings(options)
    prepare = _prepare_files if options.diff is None else _prepare_diff
    return _run_check(prepare(options, settings), options, settings)


def _find_named_files(options: CheckOptions) -> tuple[Path, Sequence[Path]]:
    if options.code is None or not options.tests:
        raise InputError("name the module's file and its test files, or a commit with --diff")
    return options.code, options.tests


def _prepare_files(options: CheckOptions, settings: Settings) -> CheckWork:
    code, tests = _find_named_files(options)
    root = find_project(code, settings)
    inputs = read_project_module(root, code, tests) if root else read_check_inputs(code, tests)
    directory = create_check_directory(settings, inputs, options.run_dir)
    return partial(check_files, inputs, code, directory, settings)


def _prepare_diff(options: CheckOptions, settings: Settings) -> CheckWork:
    assert options.diff is not None
    diff = read_diff(options.root, options.diff)
    directory = create_diff_directory(settings, diff, options.run_dir)
    return partial(check_diff, diff, directory, settings)


def _watch(options: CheckOptions) -> int:
    check_terminal("--watch")  # before a run directory is made
    settings, run_dir = load_settings(options), options.run_dir
    target: WatchedModule | WatchedProject
    if options.diff is not None:
        target = WatchedProject.create(options.root, options.diff, settings, run_dir)
    else:
        target = WatchedModule.create(*_find_named_files(options), settings, run_dir)
    return watch(target, settings)


def _run_check(work: CheckWork, options: CheckOptions, settings: Settings) -> int:
    with ExitStack() as stack:

        async def open_box() -> Sandbox:
            return stack.enter_context(open_sandbox(settings))

        progress = stack.enter_context(
            create_progress(quiet=options.quiet, verbose=options.verbose)
        )
        report, error = run_with_signals(work(open_box, progress))
    if options.markdown is not None:
        write_outputs(report, (options.markdown, render_markdown))
    status = 0 if meets_requirement(report, settings.require) else 1
    return finish_run(report, error, options, status)


def _check_against_text(spec: str, options: CheckOptions) -> int:
    """Check with a model that reads what the code should do."""
    # A plain check does not load LangChain.
    from greenloop.cli.run_agent import run_agent
    from greenloop.llm.factory import check_models

    settings, inputs = load_settings(options), read_check_inputs(*_find_named_files(options))
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
