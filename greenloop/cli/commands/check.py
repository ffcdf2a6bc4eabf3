"""The command `check`: grade existing code and tests."""

import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from greenloop.app.check import CheckResult, OpenSandbox, check_files, create_check_directory
from greenloop.app.check_all import check_modules, ignore_grade
from greenloop.app.check_diff import check_diff, create_diff_directory
from greenloop.app.inputs.check_files import check_order, read_check_inputs
from greenloop.app.inputs.project_module import read_module
from greenloop.app.inputs.specification import read_specification
from greenloop.app.module_grades import ModuleGrade, render_grades
from greenloop.app.requests import build_request, to_absolute_path
from greenloop.app.watch import watch_module, watch_project
from greenloop.cli.commands.init.files import find_repository
from greenloop.cli.finish import STDOUT, finish_run, write_outputs
from greenloop.cli.options.checks import CheckOptions
from greenloop.cli.options.settings import load_settings
from greenloop.cli.options.shared import MODEL_ALONE, RunOptions
from greenloop.cli.process import (
    check_terminal,
    fit_terminal,
    print_error,
    run_with_signals,
    write_stdout,
)
from greenloop.cli.watch import watch
from greenloop.errors import InputError
from greenloop.events import EventSink
from greenloop.project.diff import find_default_branch, read_diff
from greenloop.project.environment.discovery import find_working_root, install_declared_packages
from greenloop.records import Report
from greenloop.records.report import meets_requirement
from greenloop.reporting.formats.github import render_github
from greenloop.reporting.formats.junit import render_junit
from greenloop.reporting.formats.markdown import render_markdown
from greenloop.reporting.formats.sarif import render_sarif
from greenloop.reporting.progress.renderer import create_progress
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.workflow.check.request import CheckRequest
from greenloop.workflow.storage.request import GivenTests

_RENDERERS: Final[dict[str, Callable[[Report], str]]] = {
    "github": render_github,
    "junit": render_junit,
    "sarif": render_sarif,
    "markdown": render_markdown,
}
CheckWork = Callable[[OpenSandbox, EventSink], Coroutine[Any, Any, CheckResult]]


def check_command(options: CheckOptions) -> int:
    """Run `greenloop check` and return the exit status."""
    options = replace(options, json=options.json or options.output_format == "json")
    if options.markdown == STDOUT and options.output_format in ("text", "markdown"):
        options = replace(options, markdown=None, output_format="markdown")
    _check_combination(options)
    _check_use(options)
    given = {"--spec": options.spec is not None, "--json": options.json}
    if options.watch and any(given.values()):
        names = " and ".join(name for name, is_given in given.items() if is_given)
        raise InputError(f"--watch shows its results at a terminal: leave out {names}")
    if options.diff is not None and (options.code is not None or options.spec is not None):
        raise InputError(
            "--diff grades all changed lines of a project; it takes no files and no --spec"
        )
    if options.install:
        install_declared_packages(options.code or options.root, print_error)
    if options.every:
        return _check_all(options)
    options = replace(options, root=find_working_root(options.root))
    if options.code is None and options.diff is None and options.spec is None:
        options = replace(options, diff=_find_branch(options.root))
    if options.watch:
        return _watch(options)
    if options.spec is not None:
        return _check_against_text(options.spec, options)
    settings = load_settings(options)
    prepare = _prepare_files if options.diff is None else _prepare_diff
    return _run_check(prepare(options, settings), options, settings)


def _check_combination(options: CheckOptions) -> None:
    """Raise InputError if two options cannot be combined."""
    given = {
        "all": options.every,
        "json": options.json,
        "spec": options.spec is not None,
        "watch": options.watch,
        "diff": options.diff is not None,
        "markdown": options.markdown is not None,
        "run-dir": options.run_dir is not None,
    }
    clashes: dict[str, tuple[str, ...]] = {"spec": ("markdown",)} if given["spec"] else {}
    if options.output_format in _RENDERERS:
        on_stdout = ("markdown",) if options.markdown == STDOUT else ()
        form = f"output-format {options.output_format}"
        clashes[form] = ("json", "spec", "watch", *on_stdout)
    if options.every:
        clashes["all"] = ("spec", "watch", "diff", "markdown", "run-dir")
    for first, others in clashes.items():
        for second in others:
            if given[second]:
                raise InputError(f"--{first} and --{second} cannot be used together")


def _check_use(options: CheckOptions) -> None:
    """Raise InputError if an option or a file would be ignored."""
    of_text = [f"--{item.replace('_', '-')}" for item in MODEL_ALONE if item in options.given]
    of_text += ["--record"] * (options.record is not None)
    if options.spec is None and of_text:
        raise InputError(f"{of_text[0]} is used only for --spec TEXT; add it")
    if options.every and options.tests:
        raise InputError("--all finds the tests of each module; name a folder alone")
    if options.code is not None and (options.tracked or (options.root.parts and not options.every)):
        raise InputError("--tracked and --in are for the changes of a project: leave out the files")


def _find_branch(root: Path) -> str:
    """Return the branch to compare with. Raises InputError outside of a repository."""
    if not (find_repository(root) / ".git").exists():
        raise InputError(
            "name the module's file and its test files; without them the changed lines of a git "
            "repository are graded"
        )
    return find_default_branch(root)


def _find_named_files(options: CheckOptions) -> tuple[Path, Sequence[Path]]:
    if options.code is None or not options.tests:
        if options.code is not None:
            check_order(options.code, ())
        raise InputError(f"name the module's file and its test files{_suggest_tests(options.code)}")
    return options.code, options.tests


def _suggest_tests(code: Path | None) -> str:
    """Return a hint with a command, such as one with the test file of the usual name."""
    if code is None:
        return ", or a commit with --diff"
    if code.is_dir():
        return f"; or grade every module of the folder: greenloop check --all {code}"
    name = f"test_{code.name}"
    places = (code.with_name(name), code.parent / "tests" / name, Path("tests", name))
    return f": greenloop check {code} {next(filter(Path.exists, places), 'TESTS')}"


def _prepare_files(options: CheckOptions, settings: Settings) -> CheckWork:
    code, tests = _find_named_files(options)
    inputs = read_module(code, tests, settings)
    directory = create_check_directory(settings, inputs, options.run_dir)
    return partial(check_files, inputs, code, directory, settings)


def _prepare_diff(options: CheckOptions, settings: Settings) -> CheckWork:
    assert options.diff is not None
    diff = read_diff(options.root, options.diff, tracked=options.tracked)
    directory = create_diff_directory(settings, diff, options.run_dir)
    return partial(check_diff, diff, directory, settings)


def _watch(options: CheckOptions) -> int:
    check_terminal("--watch")  # before a run directory is made
    settings, run_dir = load_settings(options), options.run_dir
    if options.diff is not None:
        target = watch_project(options.root, options.diff, settings, run_dir)
    else:
        target = watch_module(*_find_named_files(options), settings, run_dir)
    return watch(target, options, settings)


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
    renderers = dict(_RENDERERS)
    renderers["junit"] = partial(render_junit, require=settings.require)
    if render := renderers.get(options.output_format):
        write_stdout(render(report))
        if error is not None:
            print_error(str(error))
        return error.exit_status if error else status
    return finish_run(report, error, options, status)


def _check_against_text(spec: str, options: CheckOptions) -> int:
    """Check code against a second implementation, written by a model from the text of `--spec`."""
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


def _check_all(options: CheckOptions) -> int:
    """Grade every module of a folder; return 1 unless all reach the required verdict."""
    settings, folder = load_settings(options), options.code or options.root
    with ExitStack() as stack:

        async def open_box() -> Sandbox:
            return stack.enter_context(open_sandbox(settings))

        show = ignore_grade if options.quiet else _show_grade
        grades = run_with_signals(check_modules(folder, settings, open_box, show))
    form = "json" if options.json else options.output_format
    text = render_grades(grades, form, settings.require)
    write_stdout(fit_terminal(text, sys.stdout) if form == "text" else text)
    return 0 if all(item.reaches(settings.require) for item in grades) else 1


def _show_grade(item: ModuleGrade) -> None:
    print_error(f"{item.verdict}: {item.path}")
