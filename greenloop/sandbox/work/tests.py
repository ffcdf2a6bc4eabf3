"""Test runs of a module, with the code in the process of the tests or in one of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from greenloop.errors import SandboxError
from greenloop.records import Expectation, TestRun
from greenloop.sandbox.api import IsolationMode, JobRunner
from greenloop.sandbox.job import Job
from greenloop.sandbox.work.result_decoder import build_test_run
from greenloop.testsuite import TestFile
from greenloop.testsuite.module_under_test import find_tested_module

_MAX_CHARACTERS = 300


def run_tests(
    sandbox: JobRunner,
    code: str,
    tests: str | Sequence[TestFile],
    *,
    module: str | None = None,
    expected: Expectation | None = None,
    order_seed: int | None = None,
    hash_seed: int = 0,
    doctests: bool = False,
    form: IsolationMode = "shared",
    brief: bool = False,
) -> TestRun:
    """Run tests on the source of a module in a new working folder.

    Args:
        sandbox: Where to run them.
        code: Source of the module.
        tests: Source of one test file, or several files.
        module: Name of the module; by default found from the imports of the tests.
        expected: The run passes only if exactly these tests report.
        order_seed: Shuffles the tests.
        hash_seed: PYTHONHASHSEED of the run.
        doctests: Also run the doctests of the module and of the test files.
        form: "split" runs tests and code in two processes, so that the code cannot forge the
            verdict; not every test can run so, and doctests never. "best" tries "split", then
            "shared", both in one process; `TestRun.form` names the one that counts.
        brief: Leave pytest's text of failures out of the output: it costs more than the tests.

    Raises:
        SandboxError: no process can be started, or "split" is not available: in this sandbox, with
            a hash seed, or with doctests.
        ValueError: there is no test file, or a name is invalid or given twice.
    """
    known = sandbox.packages.import_names
    if isinstance(tests, str):
        module = module or find_tested_module(tests, known)
        tests = [TestFile(f"test_{module}.py", tests)]
    elif not tests:
        raise ValueError("no test file was given")
    module = module or find_tested_module(tests[0].code, known)
    files = tuple((item.name, item.code) for item in tests)
    code_files = ((f"{module}.py", code),)
    sources = dict((*code_files, *files))
    payload = {
        "targets": [item.name for item in tests],
        "order_seed": order_seed,
        "last": [item.name for item in tests if item.is_last],
        "doctests": list(sources) if doctests else [],
        "brief": brief,
    }

    def run(job: Job) -> TestRun:
        return build_test_run(sandbox.run(job), expected, job.key, sandbox.limits, sources)

    def run_shared() -> TestRun:
        return run(Job("tests", (*code_files, *files), payload, hash_seed, sandbox.packages))

    def run_split() -> TestRun:
        known = {**payload, "module": module}
        return run(Job("split", files, known, packages=sandbox.packages, code_files=code_files))

    can_split = sandbox.can_isolate and not hash_seed and not doctests
    return _run_with_isolation(form, run_shared, run_split if can_split else None)


def _run_with_isolation(
    mode: IsolationMode, run_shared: Callable[[], TestRun], run_split: Callable[[], TestRun] | None
) -> TestRun:
    """Run in the mode that was requested; for "best" a split run that passes, else a shared run.

    A split run that fails is weak evidence: some tests cannot be split. So the shared run decides
    about failures, and if it passes it is marked as the weaker proof.
    """
    if mode == "split" and run_split is None:
        raise SandboxError("tests and code cannot run in two processes here")
    if mode == "shared" or run_split is None:
        run = run_shared()
        why = "not available here" if mode == "best" else ""
        return run.model_copy(update={"not_split": why})
    run = run_split().model_copy(update={"form": "split"})
    if mode == "split" or run.passed or run.ending == "interrupted":
        return run
    return run_shared().model_copy(update={"not_split": describe_failure(run)})


def describe_failure(run: TestRun) -> str:
    """Return the first failure of a run as one short text."""
    if run.ending != "finished":
        return f"{run.ending}: {run.detail}"[:_MAX_CHARACTERS]
    for failure in run.failures:
        return f"{failure.test}: {failure.exception}: {failure.message}"[:_MAX_CHARACTERS]
    return "some tests did not report" if run.missing else "not all tests passed"
