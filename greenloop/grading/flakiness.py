"""Flakiness: a repetition of the tests in another order and with another hash seed."""

from greenloop.grading.context import ORDER_SEED, GradingContext
from greenloop.records import Flakiness
from greenloop.sandbox.job import HASH_SEED


def measure(context: GradingContext) -> Flakiness:
    """Repeat the tests: each must end as before.

    Raises SandboxError: the sandbox cannot run anything.
    """
    run = context.repeat().run
    if run.outcomes != context.first_run.outcomes:  # instrumentation may explain it
        run = context.run_tests(
            expected=context.expected, order_seed=ORDER_SEED, hash_seed=HASH_SEED
        )
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
