"""Flakiness and coverage, from one repetition of the tests where it shows both."""

from __future__ import annotations

from typing import Any

from greenloop.errors import SandboxError
from greenloop.grading.context import GradingContext, Rerun
from greenloop.grading.coverage.measurement import (
    InstrumentedTests,
    instrument_tests,
    measure_coverage_alone,
    measure_in_project,
)
from greenloop.records import Coverage, Flakiness, TestRun
from greenloop.sandbox.hash_seed import HASH_SEED
from greenloop.sandbox.views.project import ProjectSandbox

ORDER_SEED = 20261  # any fixed value: a repeat must give the same verdict
_SHUFFLED: dict[str, Any] = {"order_seed": ORDER_SEED, "hash_seed": HASH_SEED}
_STEADY = Flakiness(reached=True, order_seed=ORDER_SEED, hash_seed=HASH_SEED)


def measure_flakiness(context: GradingContext) -> Flakiness:
    """Repeat the tests shuffled and with another hash seed: each must end as before."""
    return _rerun_once(context).flakiness


def measure_coverage(context: GradingContext) -> Coverage | str:
    """Return the coverage of the repetition, or measure it in a run of its own.

    A text says why it could not be measured.
    """
    try:
        shared = _rerun_once(context).coverage
    except SandboxError:
        shared = None
    return measure_coverage_alone(context) if shared is None else shared


def _rerun_once(context: GradingContext) -> Rerun:
    """Return the repetition that both share; made by the first that needs it."""
    with context.rerun_lock:
        if context.rerun is None:
            try:
                context.rerun = _rerun(context)
            except SandboxError as error:
                context.rerun = error
    if isinstance(context.rerun, SandboxError):
        raise context.rerun
    return context.rerun


def _rerun(context: GradingContext) -> Rerun:
    """Run the tests on instrumented code, and on the original code where an outcome differs."""
    if isinstance(context.sandbox, ProjectSandbox):
        run, coverage = measure_in_project(context, context.sandbox, **_SHUFFLED)
        is_steady = run.outcomes == context.first_run.outcomes and run.ending == "finished"
        return Rerun(_STEADY, coverage) if is_steady else Rerun(measure_flakiness_alone(context))
    instrumented = instrument_tests(context)
    if not isinstance(instrumented, str):
        run = context.run_tests(
            instrumented.module.source, instrumented.tests, plain_asserts=True, **_SHUFFLED
        )
        if _is_unchanged(run, instrumented, context.first_run):
            return Rerun(_STEADY, instrumented.compute_coverage(run, context))
    return Rerun(measure_flakiness_alone(context))


def _is_unchanged(run: TestRun, instrumented: InstrumentedTests, first_run: TestRun) -> bool:
    last_file = instrumented.tests[-1].name
    return (
        first_run.passed
        and run.ending == "finished"
        and all(item.test.startswith(last_file) for item in run.failures)
        and instrumented.has_same_outcomes(run, first_run)
    )


def measure_flakiness_alone(context: GradingContext) -> Flakiness:
    """Run the tests on the original code, shuffled and with another hash seed."""
    run = context.run_tests(expected=context.expected, **_SHUFFLED)
    cut_short = f"out of time after {len(run.tests)} tests" if run.ending == "timeout" else ""
    pairs = context.first_run.outcomes.items() ^ run.outcomes.items()
    differing = sorted({name for name, _ in pairs})
    return Flakiness(
        reached=not differing and run.passed == context.first_run.passed,
        order_seed=ORDER_SEED,
        hash_seed=HASH_SEED,
        differing=tuple(differing) if not cut_short else (),
        cut_short=cut_short,
    )
