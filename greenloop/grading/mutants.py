"""Mutation testing as a piece of evidence."""

from collections.abc import Mapping

from greenloop.grading.context import GradingContext, Plan
from greenloop.grading.coverage.line_map import list_lines, map_lines
from greenloop.grading.mutation import measure_mutation
from greenloop.grading.unasked_code import find_unasked_lines
from greenloop.records import EquivalentMutant, Mutation
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.trials.runs import BaselineResult

_LONG_SUITE_S = 3.0  # above this only one process runs mutants, as each first measures the suite


def measure(context: GradingContext) -> Mutation | str:
    """Run mutants of the code, or return why none are run.

    Raises SandboxError: the sandbox cannot run anything.
    """
    plan = context.plan
    if why := explain_no_mutants(plan, context.sandbox):
        return why
    known = _describe_tests(context) if context.is_bounded else ()
    found = measure_mutation(
        context.sandbox,
        context.code,
        context.tests,
        module=context.module,
        max_mutants=plan.mutants,
        seed=plan.seed,
        budget_s=plan.bound(context.suite_s) if context.is_bounded else plan.thresholds.seconds,
        lanes=1 if not known and context.is_bounded and context.suite_s > _LONG_SUITE_S else None,
        known=known,
    )
    return _set_unasked_apart(found, find_unasked_lines(context.code, context.contract))


def _describe_tests(context: GradingContext) -> tuple[BaselineResult, ...]:
    """Return each test's baseline from the first run and its repetition; () if they differ."""
    first, again = context.first_run, context.repeat()
    if again.run.outcomes != first.outcomes or not again.mask:
        return ()
    names = [item.id for item in first.tests if item.outcome == "passed"]
    places = {name: at for at, name in enumerate(names)}
    lines = list_lines(map_lines(context.code, again.hits, names), places)
    share = min(1.0, first.cpu_s / (first.duration_s or 1.0))
    return tuple(
        BaselineResult(
            item.id,
            "passed" if item.id in lines else "skipped",
            cpu_s=share * item.duration_s,
            wall_s=item.duration_s,
            lines=lines.get(item.id, frozenset()),
            starts_processes=item.id in again.starting,
        )
        for item in first.tests
    )


def explain_no_mutants(plan: Plan, sandbox: Sandbox) -> str:
    """Return why no mutants are run; '' if they are."""
    if plan.mutants == 0:
        return "no mutants were requested"
    unsafe = "mutants are not run without a sandbox: one could do damage"
    return unsafe if sandbox.info.backend == "none" else ""


def _set_unasked_apart(found: Mutation, unasked: Mapping[int, str]) -> Mutation:
    """Return the record with survivors on unasked lines listed as equivalent mutants."""
    apart = [item for item in found.survived if item.line in unasked]
    if not apart or found.score is None:
        return found
    survived = tuple(item for item in found.survived if item.line not in unasked)
    equivalent = (EquivalentMutant(**{**dict(i), "reason": unasked[i.line]}) for i in apart)
    changes = {"survived": survived, "equivalent": tuple(equivalent)}
    if tried := found.noticed + len(survived):
        return found.model_copy(update={**changes, "score": round(found.noticed / tried, 4)})
    trouble = "no requirement covers what a mutant could change"
    return found.model_copy(update={**changes, "score": None, "trouble": trouble})
