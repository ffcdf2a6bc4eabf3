"""Test runs of a module, with the code in the process of the tests or in one of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

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
    timeout_s: float | None = None,
) -> TestRun:
    """Run tests on the source of a module in a new working folder.

    `tests` is the source of one file, or several files; `module` is by default found from their
    imports. With `expected` the run passes only if exactly these tests report. `order_seed` shuffles
    the tests, `doctests` also runs those of all files. `timeout_s` can only shorten the limit.

    `form` "split" runs tests and code in two processes, so that the code cannot forge the verdict;
    not every test can run so, and doctests never. "best" tries "split", then "shared", both in one
    process; `TestRun.form` names the one that counts.

    Raises:
        SandboxError: no process can be started, or "split" is not available: in this sandbox, with
            a hash seed, or doctests.
        ValueError: there is no test file, or a name is invalid or given twice.
    """
    module, tests = _resolve_tests(tests, module, sandbox.packages.import_names)
    files = ((f"{module}.py", code), *((item.name, item.code) for item in tests))
    payload = {
        "targets": [item.name for item in tests],
        "order_seed": order_seed,
        "last": [item.name for item in tests if item.is_last],
        "doctests": [name for name, _ in files] if doctests else [],
        "module": module,
    }
    limit_s = timeout_s and min(timeout_s, sandbox.limits.timeout_s)
    shared = Job("tests", files, payload, hash_seed, sandbox.packages, limit_s)
    split = Job("split", files[1:], payload, packages=sandbox.packages, code_files=files[:1])

    def run(job: Job) -> TestRun:
        return build_test_run(sandbox.run(job), expected, job.key, sandbox.limits, dict(files))

    can_split = sandbox.can_isolate and not hash_seed and not doctests
    run_split = partial(run, split) if can_split else None
    return _run_with_isolation(form, partial(run, shared), run_split)


def _resolve_tests(
    tests: str | Sequence[TestFile], module: str | None, known: Collection[str]
) -> tuple[str, Sequence[TestFile]]:
    """Return the name of the module and the test files; `known` are names of packages."""
    if not tests and not isinstance(tests, str):
        raise ValueError("no test file was given")
    source = tests if isinstance(tests, str) else tests[0].code
    module = module or find_tested_module(source, known)
    return module, [TestFile(f"test_{module}.py", tests)] if isinstance(tests, str) else tests


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
