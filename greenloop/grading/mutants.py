"""Mutation testing as a piece of evidence."""

from __future__ import annotations

from greenloop.grading.context import GradingContext
from greenloop.records import Mutation


def measure(context: GradingContext) -> Mutation | str:
    """Run mutants of the code, or return why none are run.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    plan = context.plan
    if plan.mutants == 0:
        return "no mutants were requested"
    if context.sandbox.info.backend == "none":
        return "mutants are not run without a sandbox: one could do damage"
    return plan.mutation(
        context.sandbox,
        context.code,
        context.tests,
        module=context.module,
        max_mutants=plan.mutants,
        seed=plan.seed,
        budget_s=context.thresholds.seconds,
    )
