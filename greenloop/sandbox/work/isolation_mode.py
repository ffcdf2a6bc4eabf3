"""In which form tests run: with the code in one process, or split over two."""

from __future__ import annotations

from collections.abc import Callable

from greenloop.errors import SandboxError
from greenloop.records import TestRun
from greenloop.sandbox.api import IsolationMode

_MAX_CHARACTERS = 300


def run_with_isolation(
    mode: IsolationMode, run_shared: Callable[[], TestRun], run_split: Callable[[], TestRun] | None
) -> TestRun:
    """One run in the form asked for; with "best", a split run that passes, else a shared one.

    A split run that does not pass says little: the tests may be such as cannot be split. So the
    other form has the last word on failures, and its green is marked as the weaker one.

    Raises:
        SandboxError: "split" was asked for and `split` is None, or what the runs raise.
    """
    if mode == "split" and run_split is None:
        raise SandboxError("tests and code are not kept in two processes here")
    if mode == "shared" or run_split is None:
        run = run_shared()
        why = "not to be had here" if mode == "best" else ""
        return run.model_copy(update={"not_split": why})
    run = run_split().model_copy(update={"form": "split"})
    if mode == "split" or run.passed or run.ending == "interrupted":
        return run
    return run_shared().model_copy(update={"not_split": describe_failure(run)})


def describe_failure(run: TestRun) -> str:
    """The first thing that went wrong, in at most so many letters."""
    if run.ending != "finished":
        return f"{run.ending}: {run.detail}"[:_MAX_CHARACTERS]
    for failure in run.failures:
        return f"{failure.test}: {failure.exception}: {failure.message}"[:_MAX_CHARACTERS]
    return "some tests did not report" if run.missing else "not all tests passed"
