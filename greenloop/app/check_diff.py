"""Checks of the lines of a project that have changed since a commit, without a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from greenloop.app.check import CheckResult, OpenSandbox, run_and_save
from greenloop.app.requests import build_request
from greenloop.dependencies import PackageResolver
from greenloop.dependencies.names import normalize_name
from greenloop.errors import InputError
from greenloop.events import EventSink, Notice, TestRunFinished, ignore_event
from greenloop.events.progress import create_thread_safe_sink, progress_span
from greenloop.project.diff import ProjectDiff
from greenloop.project.grading import ChangedLines, grade_lines
from greenloop.project.runner import ProjectRunner
from greenloop.records import (
    Baseline,
    BaselineResult,
    Change,
    Evidence,
    Failure,
    Report,
    TestOutcome,
    TestRun,
)
from greenloop.sandbox import Sandbox
from greenloop.sandbox.asyncio_bridge import run_in_sandbox_thread
from greenloop.settings import Settings
from greenloop.testsuite.parser import is_test_path
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.change.suite import ChangeSuite
from greenloop.workflow.report_builder import build_report
from greenloop.workflow.setup.missing_modules import describe_missing_module, install_with_events
from greenloop.workflow.setup.packages import find_unavailable_modules
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.run_dir import RunDirectory
from greenloop.workflow.storage.run_request import CheckRequest

_NOT_HERE = re.compile(r"No module named '|^fixture '\w+' not found", re.MULTILINE)
_MAX_SHOWN = 5


async def check_diff(
    diff: ProjectDiff,
    directory: RunDirectory,
    settings: Settings,
    open_box: OpenSandbox,
    emit: EventSink,
) -> CheckResult:
    """Grade the changed lines of a project and save the report; errors are those of `check_files`."""
    suite, state = _start(diff, settings)
    work = partial(_run_check, diff=diff, suite=suite, state=state, settings=settings)
    return await run_and_save(state, work, directory, diff.tree.root, open_box, emit)


async def grade_diff(
    box: Sandbox, diff: ProjectDiff, settings: Settings, bound: Mapping[str, Any]
) -> Report:
    """Grade the changed lines of a project, with `bound` results that still hold.

    Raises as a check of them does.
    """
    suite, state = _start(diff, settings)
    await _run_check(box, ignore_event, diff=diff, suite=suite, state=state, settings=settings)
    state.evidence = state.evidence.model_copy(update=bound)
    return build_report(state)


def _start(diff: ProjectDiff, settings: Settings) -> tuple[ChangeSuite, RunState]:
    """Return the suite and the state of a check before its run."""
    suite = ChangeSuite(
        before=diff.texts_before,
        files={p: diff.tree.texts[p] for p in diff.lines if is_test_path(p)},
        is_given=True,
    )
    state = RunState.create(_build_request(diff, settings), settings)
    state.suite, state.evidence = suite, Evidence(thresholds=state.plan.thresholds)
    state.change = Change(base=diff.commit)
    patch = diff.patch_without(suite.files)
    state.candidates.best = state.candidates.base = Candidate(patch, "generate")
    return suite, state


def create_diff_directory(
    settings: Settings, diff: ProjectDiff, run_dir: Path | None
) -> RunDirectory:
    """Create a run directory that `greenloop report` finds. Raises InputError, OutputError."""
    directory = RunDirectory.create(settings.home, "check diff", run_dir)
    directory.save_request(_build_request(diff, settings))
    return directory


def _build_request(diff: ProjectDiff, settings: Settings) -> CheckRequest:
    name = Path(diff.tree.root).resolve().name
    return build_request(CheckRequest, settings, module=f"{name} since {diff.commit[:12]}")


async def _run_check(
    sandbox: Sandbox,
    emit: EventSink,
    *,
    diff: ProjectDiff,
    suite: ChangeSuite,
    state: RunState,
    settings: Settings,
) -> None:
    """Run the suite; grade the changed lines where no test is broken by them.

    Raises:
        InputError: the suite cannot be run.
        SandboxError: the sandbox cannot run anything.
        PackagesError: a package cannot be installed.
    """
    await _install_packages(diff, state, settings, emit)
    runner = ProjectRunner(sandbox.with_packages(state.packages.installed), diff.tree)
    with state.measure_time("sandbox_s"), progress_span(emit, "the project's tests"):
        baseline = await run_in_sandbox_thread(runner.box, runner.measure_baseline)
        if baseline.problem:
            raise InputError(f"the project's tests cannot be run here: {baseline.problem}")
        explain = partial(_explain_red, runner, diff, baseline)
        red = await run_in_sandbox_thread(runner.box, explain)
    _record_run(state, baseline, red, emit)
    if state.green_run is None:
        return
    added = [name for name in baseline.locked if suite.name_of(name)]
    change = ChangedLines(runner, diff.lines, baseline, added, state.plan)
    if not change.code_lines:
        state.notes.append(f"no line of tested code has changed since {diff.commit[:12]}")
    if change.untested_files:
        names = ", ".join(change.untested_files)
        state.notes.append(f"not graded, because no test imports them: {names}")
    sink = create_thread_safe_sink(emit)
    with state.measure_time("grading_s"):
        grade = partial(grade_lines, change, emit=sink)
        state.evidence = await run_in_sandbox_thread(runner.box, grade)


async def _install_packages(
    diff: ProjectDiff, state: RunState, settings: Settings, emit: EventSink
) -> None:
    """Install what the files import, as far as it is allowed and the project's metadata name it."""
    packages, texts = PackageResolver(settings.allow_list), diff.tree.texts
    own = diff.tree.module_names
    named = normalize_name(f"{diff.tree.metadata} {settings.allow_package}")
    names = {name for name in packages.find_imported(texts.values(), own) if name in named}
    if names:
        state.packages.installed = await install_with_events(packages, names, emit)
    tests = [text for path, text in texts.items() if is_test_path(path)]
    for module in find_unavailable_modules(tests, own, state.packages.installed):
        emit(Notice(describe_missing_module(module, "a test of the project imports")))


@dataclass(frozen=True)
class _RedTests:
    """Red tests: those that the change breaks, with their failures, and those that do not count."""

    broken: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()
    before: tuple[str, ...] = ()
    not_runnable: tuple[str, ...] = ()


def _explain_red(runner: ProjectRunner, diff: ProjectDiff, baseline: Baseline) -> _RedTests:
    """Run the files of the red tests as they are and as they were at the commit."""
    files = sorted({test.partition("::")[0] for test in baseline.red} - {""})
    if not files:
        return _RedTests()
    failures = {item.test: item for item in runner.run({}, baseline.red).failures}
    there = [path for path in files if diff.before.get(path, "") is not None]
    failing = runner.run(diff.before, there).failing_tests if there else frozenset()
    known = {name: name in failing for name in baseline.red}
    lacking = {
        name
        for name in baseline.red
        if not known[name] and name in failures and _NOT_HERE.search(failures[name].message)
    }
    broken = tuple(name for name in baseline.red if not known[name] and name not in lacking)
    return _RedTests(
        broken,
        tuple(failures[name] for name in broken if name in failures),
        tuple(name for name in baseline.red if known[name]),
        tuple(sorted(lacking)),
    )


def _record_run(state: RunState, baseline: Baseline, red: _RedTests, emit: EventSink) -> None:
    """Set the run of the tests that count, and what is known of the others."""
    result = TestRun(
        ending="finished",
        exit_status=int(bool(red.broken)),
        tests=(
            *(TestOutcome(id=name, outcome="passed") for name in baseline.locked),
            *(TestOutcome(id=name, outcome="failed") for name in red.broken),
        ),
        failures=red.failures,
        duration_s=baseline.seconds,
    )
    state.candidates.best = Candidate(state.candidates.current.code, "generate", run=result)
    emit(TestRunFinished(result))
    assert state.change is not None
    ignored = (*red.before, *red.not_runnable)
    known = BaselineResult(locked=len(baseline.locked), red=ignored, flaky=baseline.flaky)
    state.change = state.change.model_copy(update={"baseline": known})
    for what, names in (
        ("also fail before the change", red.before),
        ("need a package that is not installed (--allow-package)", red.not_runnable),
        ("are flaky", known.flaky),
    ):
        if names:
            shown = ", ".join(names[:_MAX_SHOWN]) + (", …" if len(names) > _MAX_SHOWN else "")
            state.notes.append(f"tests that {what}, and do not count: {len(names)}: {shown}")
    if result.passed:
        state.green_run = result
