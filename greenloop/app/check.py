"""Checks of a module: existing code is run and graded with existing tests, without a model."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from greenloop.app.inputs.check_files import CheckInputs
from greenloop.app.inputs.project_module import read_module_tree
from greenloop.app.requests import build_request
from greenloop.dependencies import PackageResolver
from greenloop.errors import (
    GreenloopError,
    InputError,
    InterruptedRunError,
    OutputError,
    PackagesError,
)
from greenloop.events import EventSink, Notice, RunFinished, RunStarted, TestRunFinished
from greenloop.events.progress import progress_span
from greenloop.grading import Plan
from greenloop.grading.collector import describe_load
from greenloop.grading.unreported_tests import find_unreported_tests
from greenloop.llm.budget import Budget
from greenloop.project.environment.discovery import find_project_root
from greenloop.project.weakening.configuration import selects_tests
from greenloop.records import Artifacts, Evidence, Report, SandboxInfo, TestRun
from greenloop.sandbox import Sandbox
from greenloop.sandbox.guest.protocol.framing import NOT_LOADED
from greenloop.sandbox.views.jobs import InstrumentedSandbox
from greenloop.sandbox.views.project import ProjectSandbox
from greenloop.settings import Settings
from greenloop.testsuite import Suite, TestFile
from greenloop.testsuite.parser import parse_test_functions
from greenloop.threads import complete_in_thread
from greenloop.tracing.setup import Tracing, trace_run
from greenloop.workflow.candidates import Candidate
from greenloop.workflow.check.request import CheckRequest
from greenloop.workflow.check.tolerated_skips import tolerate_skips
from greenloop.workflow.grade_code import collect_evidence
from greenloop.workflow.report_builder import build_report
from greenloop.workflow.setup.missing_modules import explain_missing_modules, find_missing_module
from greenloop.workflow.setup.packages import add_declared_packages, add_packages
from greenloop.workflow.setup.project_environment import use_environment
from greenloop.workflow.state import RunState
from greenloop.workflow.storage.request import GivenTests
from greenloop.workflow.storage.run_dir import RunDirectory

CheckResult = tuple[Report, GreenloopError | None]
OpenSandbox = Callable[[], Awaitable[Sandbox]]


def start_check(
    module: str, code: str, tests: Sequence[TestFile], plan: Plan, sandbox: SandboxInfo
) -> RunState:
    """Return the state of a check before its run; `build_report` accepts it at any time."""
    state = RunState(CheckRequest(module=module), Budget(), "none", sandbox, plan)
    state.suite = Suite(module, user_files=tuple(tests))
    state.candidates.best = state.candidates.base = Candidate(code, "generate")
    state.evidence = Evidence(thresholds=plan.thresholds)
    return state


async def run_check(
    sandbox: Sandbox,
    state: RunState,
    emit: EventSink,
    packages: PackageResolver | None = None,
    code: Path | None = None,
    place: Callable[[Sandbox], Sandbox] = lambda sandbox: sandbox,
) -> None:
    """Run the tests of a check with the allowed packages that they import; grade a green run.

    `code` is the file with the module. `place` returns the sandbox view for a module of a project.

    Raises:
        SandboxError: the sandbox cannot run anything.
        PackagesError: a package that the tests need cannot be installed.
        InputError: the files have no tests, no test loads the module, or none can run as the
            project's packages are missing.
    """
    failure = await _install_packages(state, emit, packages) if packages else None
    if state.packages.installed:
        sandbox = sandbox.with_packages(state.packages.installed)
    sandbox = place(InstrumentedSandbox(sandbox, emit))
    suite, candidate = state.tests, state.candidates.current
    with state.measure_time("sandbox_s"), progress_span(emit, "tests"):
        result = await tolerate_skips(sandbox, state, await _run_tests(sandbox, state))
    state.candidates.best = replace(candidate, run=result)
    emit(TestRunFinished(result))
    is_empty = result.ending == "finished" and not (result.tests or result.failures)
    if is_empty and not any(parse_test_functions(item.code) for item in suite.files):
        names = ", ".join(item.name for item in suite.files)
        raise InputError(
            f"{names} contains no tests; pytest runs functions whose names begin with test_"
        )
    if not result.passed:
        if failure:
            raise failure
        _explain_red_run(sandbox, result, code, state, emit)
        return
    state.green_run = result
    if unreported := _find_unreported(sandbox, suite.files, result):
        state.forgery_reason = f"{unreported[0]} is in the tests but was never reported"
    await collect_evidence(state, sandbox, result, emit)
    mutation = state.evidence.mutation
    if mutation and NOT_LOADED in mutation.trouble:
        state.green_run, state.evidence = None, Evidence(thresholds=state.plan.thresholds)
        name = code or f"{suite.module}.py"
        raise InputError(f"{NOT_LOADED} {name}; name the tests of that module")


def _find_unreported(sandbox: Sandbox, tests: Sequence[TestFile], run: TestRun) -> tuple[str, ...]:
    """Return the tests that the code removed, not those that a project's options may leave out."""
    if not isinstance(sandbox, ProjectSandbox):
        return find_unreported_tests(tests, run)
    if selects_tests(sandbox.project.all_files):
        return ()
    return find_unreported_tests(tests, run, ".mark.parametrize")  # hooks may leave out marked ones


def _explain_red_run(
    sandbox: Sandbox, result: TestRun, code: Path | None, state: RunState, emit: EventSink
) -> None:
    """Emit notices on missing modules. Raises InputError if no test of a project ran for them."""
    lines = [*explain_missing_modules(result.failures, code, state.packages.own)]
    is_project = isinstance(sandbox, ProjectSandbox) and not sandbox.environment
    is_unrun = bool(result.failures) and not result.tests
    if is_project and is_unrun and all(map(find_missing_module, result.failures)):
        raise InputError(f"no test was run: {'; '.join(lines)}")
    for line in lines:
        emit(Notice(line))


async def _run_tests(sandbox: Sandbox, state: RunState) -> TestRun:
    """Run the tests, on a busy machine twice if some fail, as load may be the reason."""
    suite, code = state.tests, state.candidates.current.code
    work = partial(sandbox.run_tests, code, suite.files, module=suite.module)
    first = await complete_in_thread(work, sandbox.interrupt_runs)
    if first.passed or (
        first.ending == "finished" and not first.failures
    ):  # load is no reason for skips
        return first
    if not (load := describe_load()):
        return first
    again = await complete_in_thread(work, sandbox.interrupt_runs)
    if not again.passed and (again.ending == "timeout" or first.outcomes != again.outcomes):
        state.notes.append(
            f"the machine was too busy ({load}) for this result to count; run the check again"
        )
    return again


async def _install_packages(
    state: RunState, emit: EventSink, packages: PackageResolver
) -> PackagesError | None:
    """Install imported packages; return an error instead of raising, as imports may be optional."""
    suite = state.tests
    own = {suite.module, *state.packages.own, *(Path(item.name).stem for item in suite.files)}
    sources = [state.candidates.current.code, *(item.code for item in suite.files)]
    try:
        await add_packages(state, packages, packages.find_imported(sources, own), emit)
    except PackagesError as error:
        return error
    return None


async def check_files(
    inputs: CheckInputs,
    code: Path,
    directory: RunDirectory,
    settings: Settings,
    open_box: OpenSandbox,
    emit: EventSink,
    tracing: Tracing | None = None,
) -> CheckResult:
    """Check files and save the report; return as `run_and_save` does."""
    plan = Plan.from_settings(settings)
    sandbox = SandboxInfo.describe_unopened(settings.sandbox)
    state = start_check(inputs.module, inputs.code, inputs.tests, plan, sandbox)

    async def work(sandbox: Sandbox, sink: EventSink) -> None:
        await check_inputs(sandbox, inputs, code, state, settings, sink)

    return await run_and_save(state, work, directory, str(code), open_box, emit, tracing)


async def check_inputs(
    sandbox: Sandbox,
    inputs: CheckInputs,
    code: Path,
    state: RunState,
    settings: Settings,
    emit: EventSink,
) -> None:
    """Run a check of files, in their project if they have one. Raises the errors of `run_check`."""
    packages = PackageResolver(settings.allow_list)
    if inputs.root is None:
        await add_declared_packages(state, None, settings, emit)
        await run_check(sandbox, state, emit, packages, code)
        return
    tree = read_module_tree(inputs)
    inner = find_project_root(inputs.root / inputs.path) or inputs.root
    with use_environment(sandbox, inputs.root, settings, emit, state, place=inner) as box:
        await add_declared_packages(state, tree, settings, emit)
        place = partial(ProjectSandbox, project=tree.project, path=inputs.path)
        await run_check(box, state, emit, packages, code, place)


async def run_and_save(
    state: RunState,
    work: Callable[[Sandbox, EventSink], Awaitable[None]],
    directory: RunDirectory,
    code: str,
    open_box: OpenSandbox,
    emit: EventSink,
    tracing: Tracing | None = None,
) -> CheckResult:
    """Run `work` and save the report; return the report with the error that ended the run, if any.

    `code` is the checked path. The error of a cancelled check is an InterruptedRunError.
    """
    failure: GreenloopError | None = None
    try:
        async with trace_run(emit, tracing) as traced:
            try:
                sandbox = await open_box()
            except GreenloopError as refusal:
                directory.remove_unused()
                return build_report(state, refusal), refusal
            state.sandbox = info = sandbox.info
            model, run_dir = "none needed", str(directory.path)
            traced(RunStarted(model, info.backend, info.isolation, run_dir))
            await work(sandbox, traced)
            traced(RunFinished(build_report(state)))
    except asyncio.CancelledError:
        failure = InterruptedRunError("interrupted; a check cannot be resumed: run it again")
    except GreenloopError as error:
        failure = error
    artifacts = Artifacts(
        run_dir=str(directory.path),
        report=str(directory.report_file),
        html=str(directory.html_file),
        code=code,
    )
    report = build_report(state, failure).model_copy(update={"artifacts": artifacts})
    try:
        directory.save_report(report)
    except OutputError as problem:
        failure = failure or problem
        report = report.without_own_files()
    return report, failure


def create_check_directory(
    settings: Settings, inputs: CheckInputs, run_dir: Path | None
) -> RunDirectory:
    """Create a run directory that `greenloop report` finds. Raises InputError, OutputError."""
    directory = RunDirectory.create(settings.home, f"check {inputs.module}", run_dir)
    given = tuple(GivenTests.from_code(item.name, item.code) for item in inputs.tests)
    directory.save_request(build_request(CheckRequest, settings, module=inputs.module, given=given))
    return directory
