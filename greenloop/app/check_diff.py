"""Checks of the lines of a project that have changed since a commit, without a model."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from greenloop.app.check import CheckResult, OpenSandbox, run_and_save
from greenloop.app.diff_tests import (
    RedTests,
    build_run,
    explain_problem,
    explain_red,
    find_weakened,
    list_ignored_tests,
    list_lost_tests,
    list_parts,
    list_syntax_errors,
    summarize_baseline,
)
from greenloop.app.replaced_tests import REPLACED, find_equalled
from greenloop.app.requests import build_request
from greenloop.app.tests_before import (
    EarlierTests,
    compare_tests,
    list_functions,
    run_earlier_tests,
)
from greenloop.errors import InputError
from greenloop.events import EventSink, Notice, TestRunFinished, ignore_event
from greenloop.events.progress import create_thread_safe_sink, progress_span
from greenloop.project.diff import ProjectDiff
from greenloop.project.grading import ChangedLines, grade_lines
from greenloop.project.grading.grader import CODE_PIECES, NO_STATEMENT, TEST_PIECES
from greenloop.project.runner import NOT_FINISHED, ProjectRunner
from greenloop.project.weakening import WeakenedTest
from greenloop.records import Baseline, Change, Evidence, Report
from greenloop.records.evidence.base import format_items
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.syntax.parse import describe_python, parse_or_none
from greenloop.testsuite.parser import is_test_path
from greenloop.threads import complete_in_thread
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.change.suite import ChangeSuite
from greenloop.workflow.check.request import CheckRequest
from greenloop.workflow.report_builder import build_report
from greenloop.workflow.setup.missing_modules import (
    explain_python_version,
    explain_suite_problem,
)
from greenloop.workflow.setup.packages import add_declared_packages
from greenloop.workflow.setup.project_environment import use_environment
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.run_dir import RunDirectory

_SUITE_SHARE = 0.45  # share of the remaining time for the tests of one step


async def check_diff(
    diff: ProjectDiff,
    directory: RunDirectory,
    settings: Settings,
    open_box: OpenSandbox,
    emit: EventSink,
    *,
    time_s: float | None = None,
) -> CheckResult:
    """Grade the changed lines of a project and save the report; return as `run_and_save` does.

    With a limit of `time_s` seconds, only `QUICK_PIECES` are measured, as far as time allows.
    """
    suite, state = _start(diff, settings)
    deadline = None if time_s is None else time.monotonic() + time_s
    work = partial(
        _run_check, diff=diff, suite=suite, state=state, settings=settings, deadline=deadline
    )
    return await run_and_save(state, work, directory, diff.tree.root, open_box, emit)


async def grade_diff(
    box: Sandbox, diff: ProjectDiff, settings: Settings, bound: Mapping[str, Any]
) -> Report:
    """Return the report on the changed lines of a project, with the still valid results in `bound`.

    Raises the errors of a check of changed lines.
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
        locked=frozenset(list_functions(diff.texts_before)),  # their earlier tests are not new
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
    return build_request(CheckRequest, settings, module=f"{name} {diff.since}")


async def _run_check(
    sandbox: Sandbox,
    emit: EventSink,
    *,
    diff: ProjectDiff,
    suite: ChangeSuite,
    state: RunState,
    settings: Settings,
    deadline: float | None = None,
) -> None:
    """Run the suite, and grade the changed lines if they break no test.

    Raises:
        InputError: the suite cannot be run, or none of its tests passes.
        SandboxError: the sandbox cannot run anything.
        PackagesError: a package cannot be installed.
    """
    tree, root = diff.tree, Path(diff.tree.root)
    with use_environment(sandbox, root, settings, emit, state, tree.untracked, tree.scope) as box:
        if not box.environment:
            await add_declared_packages(state, diff.tree, settings, emit)
            if line := explain_python_version(diff.tree):
                emit(Notice(line))
            box = box.with_packages(state.packages.installed)
        await _grade_changes(ProjectRunner(box, diff.tree), emit, diff, suite, state, deadline)


async def _grade_changes(
    runner: ProjectRunner,
    emit: EventSink,
    diff: ProjectDiff,
    suite: ChangeSuite,
    state: RunState,
    deadline: float | None,
) -> None:
    with state.measure_time("sandbox_s"), progress_span(emit, "the project's tests"):
        measure = partial(measure_tests, runner, diff, deadline)
        baseline, red, compared = await complete_in_thread(measure, runner.box.interrupt_runs)
    if baseline.problem and not red.ended:
        why = explain_suite_problem(baseline.problem, diff.tree, state.packages.unavailable)
        raise InputError(why)
    _record_run(state, baseline, red, emit, compared)
    if state.green_run is None:
        own = "" if runner.box.environment else explain_python_version(diff.tree)
        lines = (*list_syntax_errors(diff), own)
        state.notes.extend(filter(None, lines))
        if deadline is not None and not (red.broken or red.ended):
            raise InputError("none of the tests that the change touches passes here")
        return
    others = baseline.test_files.intersection(diff.lines).difference(suite.files)
    if others:  # pytest has run tests in changed files with unusual names
        suite = replace(suite, files={**suite.files, **{p: diff.tree.texts[p] for p in others}})
        state.suite = suite
    added = [name for name in baseline.locked if suite.name_of(name)]
    skipped = [name for name in baseline.others if suite.name_of(name)]
    change = ChangedLines(
        *(runner, diff.lines, baseline, added, state.plan),
        deadline=deadline,
        skipped_tests=skipped,
    )
    weakened = find_weakened(diff)
    if deadline is not None:
        await _compare_replaced(change, emit, diff, weakened, state, _limit(deadline))
    sink = create_thread_safe_sink(emit)
    with state.measure_time("grading_s"):
        grade = partial(grade_lines, change, sink)
        state.evidence = await complete_in_thread(grade, runner.box.interrupt_runs)
    _note_what_is_not_graded(state, change, diff, list(list_lost_tests(weakened)))


async def _compare_replaced(
    change: ChangedLines,
    emit: EventSink,
    diff: ProjectDiff,
    weakened: Sequence[WeakenedTest],
    state: RunState,
    limit_s: float,
) -> None:
    """Store which replaced tests are equalled by others, as far as time allows."""
    assert state.change is not None
    known = state.change.baseline
    holding = {*known.compared} - {*known.outdated}
    asked = {item.was for item in weakened if item.kind in REPLACED} & holding
    with state.measure_time("grading_s"), progress_span(emit, "replaced tests"):
        compare = partial(find_equalled, change, diff, asked, limit_s)
        equalled = await complete_in_thread(compare, change.runner.box.interrupt_runs)
    known = known.model_copy(update={"equalled": equalled})
    state.change = state.change.model_copy(update={"baseline": known})


def measure_tests(
    runner: ProjectRunner, diff: ProjectDiff, deadline: float | None
) -> tuple[Baseline, RedTests, dict[str, Any]]:
    """Return the baseline, the red tests, and the fields of `compare_tests` (with a deadline only).

    With a deadline, fewer tests are run if there is no time for all.
    """
    parts: list[list[str] | None] = [None] if deadline is None else list_parts(diff)
    some = (None, parts[-1]) if deadline is not None else ()

    def run_earlier() -> EarlierTests | None:
        found = None
        for only in some:
            found = run_earlier_tests(runner, diff, only, _limit(deadline or 0.0))
            if found and found.is_finished:
                break
        return found

    with ThreadPoolExecutor(1) as pool:
        begun = pool.submit(run_earlier)
        for tests in parts:
            limit_s = None if deadline is None else _limit(deadline, tests is parts[-1])
            baseline = runner.measure_baseline(limit_s, tests, once=deadline is not None)
            if not (is_late := baseline.problem.startswith(NOT_FINISHED)):
                break
    earlier = begun.result()
    if baseline.problem and tests and not is_late:  # the selected files have no tests any more
        baseline = Baseline()
    explain = explain_problem if baseline.problem else explain_red
    red = explain(runner, diff, baseline)
    known = None if baseline.problem else earlier
    return baseline, red, compare_tests(diff, baseline, known, tests) if known else {}


def _limit(deadline: float, is_all: bool = False) -> float:
    """Return the seconds that a run may take: all of the remaining time or a share of it."""
    return max((deadline - time.monotonic()) * (1.0 if is_all else _SUITE_SHARE), 1.0)


def _record_run(
    state: RunState,
    baseline: Baseline,
    red: RedTests,
    emit: EventSink,
    compared: Mapping[str, Any],
) -> None:
    """Store the run of the tests that count, and the results of the other tests."""
    result = build_run(baseline, red)
    state.candidates.best = Candidate(state.candidates.current.code, "generate", run=result)
    emit(TestRunFinished(result))
    assert state.change is not None
    known = summarize_baseline(baseline, red).model_copy(update=compared)
    state.change = state.change.model_copy(update={"baseline": known})
    state.notes.extend([red.ended] if red.ended and not red.broken else [])
    state.notes.extend(list_ignored_tests(red, known.flaky))
    if result.passed:
        state.green_run = result


def _note_what_is_not_graded(
    state: RunState, change: ChangedLines, diff: ProjectDiff, lost: Sequence[str]
) -> None:
    """Add notes on weakened tests and on files that no piece of evidence covers."""
    state.notes.extend(lost)
    if not change.has_statements:
        without = CODE_PIECES if change.new_tests else CODE_PIECES | TEST_PIECES
        is_short = lost or any(state.evidence.unmet(contracted=False, without=without))
        key = "" if is_short else f"{NO_STATEMENT} {diff.since}"
        assert state.change is not None
        state.change = state.change.model_copy(update={"nothing_to_grade": key})
        return
    files = change.untested_files
    unread = [path for path in files if parse_or_none(diff.tree.texts[path]) is None]
    for what, found in (
        (f"files that are not {describe_python()}", unread),
        ("files that no test imports", [path for path in files if path not in unread]),
    ):
        state.notes.extend([f"{what}: {format_items(found)}"] if found else [])
