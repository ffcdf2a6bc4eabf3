"""Mutation testing as a piece of evidence."""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.grading.context import GradingContext
from greenloop.grading.unasked_code import find_unasked_lines
from greenloop.records import EquivalentMutant, Mutation


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
    found = plan.mutation(
        context.sandbox,
        context.code,
        context.tests,
        module=context.module,
        max_mutants=plan.mutants,
        seed=plan.seed,
        budget_s=context.thresholds.seconds,
    )
    return _set_unasked_apart(found, find_unasked_lines(context.code, context.contract))


def _set_unasked_apart(found: Mutation, unasked: Mapping[int, str]) -> Mutation:
    """Return the record without survivors on lines that nothing asks for; they are listed apart."""
    apart = [item for item in found.survived if item.line in unasked]
    if not apart or found.score is None:
        return found
    survived = tuple(item for item in found.survived if item.line not in unasked)
    noticed = found.killed + found.timeout + found.crashed
    changes = {
        "survived": survived,
        "equivalent": tuple(
            EquivalentMutant(**{**dict(item), "reason": unasked[item.line]}) for item in apart
        ),
        "score": round(noticed / (noticed + len(survived)), 4) if noticed or survived else None,
        "trouble": (
            "" if noticed or survived else "no requirement covers what a mutant could change"
        ),
    }
    return found.model_copy(update=changes)
