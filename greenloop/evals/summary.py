"""Summary of an evaluation's results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import get_args

from greenloop.evals.statistics import build_share
from greenloop.records import Verdict
from greenloop.records.evaluation import (
    EvalReport,
    EvalSetup,
    EvalUsage,
    Proportion,
    TaskResult,
    VerdictRow,
)

# Decimal places of a mean.
_DIGITS = {"calls": 3, "input_tokens": 1, "output_tokens": 1, "repairs": 3, "seconds": 3}


def build_eval_report(setup: EvalSetup, tasks: int, results: Sequence[TaskResult]) -> EvalReport:
    """Build the report; those of `tasks` without a result were not run."""
    ran = [item.spent for item in results]
    return EvalReport(
        setup=setup,
        tasks=tasks,
        broken_off=sum(item.truth is None for item in results),
        not_run=tasks - len(results),
        unknown=sum(item.truth == "unknown" for item in results),
        pass_at_1=pass_at_1(results),
        verdicts=tuple(_build_verdict_row(verdict, results) for verdict in get_args(Verdict)),
        total=sum_spent(ran),
        mean=average_spent(ran),
        results=tuple(results),
    )


def pass_at_1(results: Iterable[TaskResult]) -> Proportion:
    """Return the share of solved tasks; aborted ones count as unsolved, unknown ones do not count."""
    counted = [item for item in results if item.is_counted]
    return build_share(sum(item.is_solved for item in counted), len(counted))


def _build_verdict_row(verdict: Verdict, results: Iterable[TaskResult]) -> VerdictRow:
    truths = [item.truth for item in results if item.verdict == verdict]
    passed, failed = truths.count("passed"), truths.count("failed")
    wrong = passed if verdict == "failed" else failed
    share = build_share(wrong, passed + failed)
    return VerdictRow(verdict=verdict, hidden_passed=passed, hidden_failed=failed, wrong=share)


def sum_spent(spent: Sequence[EvalUsage]) -> EvalUsage:
    """Return the sums; the cost is null where that of any task with calls is."""
    costs = [item.cost_usd for item in spent if item.calls or item.cost_usd is not None]
    known = [item for item in costs if item is not None]
    sums = {name: round(sum(getattr(item, name) for item in spent), 3) for name in _DIGITS}
    return EvalUsage(cost_usd=sum(known) if len(known) == len(costs) else None, **sums)


def average_spent(spent: Sequence[EvalUsage]) -> EvalUsage:
    """Return the mean of a task; its cost is that of tasks with a known cost."""
    if not spent:
        return EvalUsage()
    costs = [item.cost_usd for item in spent if item.cost_usd is not None]
    added, of = sum_spent(spent), len(spent)
    means = {name: round(getattr(added, name) / of, digits) for name, digits in _DIGITS.items()}
    return EvalUsage(cost_usd=sum(costs) / len(costs) if costs else None, **means)
