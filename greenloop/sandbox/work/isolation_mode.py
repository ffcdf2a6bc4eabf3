"""In which form tests run: with the code in one process, or split over two."""

from __future__ import annotations

from collections.abc import Callable

from greenloop.errors import SandboxError
from greenloop.records import TestRun
from greenloop.sandbox.api import AskedForm

_MOST_WORDS = 300


def run_in_form(
    form: AskedForm, shared: Callable[[], TestRun], split: Callable[[], TestRun] | None
) -> TestRun:
    """One run in the form asked for; with "best", a split run that passes, else a shared one.

    A split run that does not pass says little: the tests may be such as cannot be split. So the
    other form has the last word on failures, and its green is marked as the weaker one.

    Raises:
        SandboxError: "split" was asked for and `split` is None, or what the runs raise.
    """
    if form == "split" and split is None:
        raise SandboxError("tests and code are not kept in two processes here")
    if form == "shared" or split is None:
        run = shared()
        why = "not to be had here" if form == "best" else ""
        return run.model_copy(update={"not_split": why})
    run = split().model_copy(update={"form": "split"})
    if form == "split" or run.passed or run.ending == "interrupted":
        return run
    return shared().model_copy(update={"not_split": why_red(run)})


def why_red(run: TestRun) -> str:
    """The first thing that went wrong, in at most so many letters."""
    if run.ending != "finished":
        return f"{run.ending}: {run.detail}"[:_MOST_WORDS]
    for failure in run.failures:
        return f"{failure.test}: {failure.exception}: {failure.message}"[:_MOST_WORDS]
    return "some tests did not report" if run.missing else "not all tests passed"
