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
    return EvalUsage(
        calls=sum(item.calls for item in spent),
        input_tokens=sum(item.input_tokens for item in spent),
        output_tokens=sum(item.output_tokens for item in spent),
        cost_usd=sum(known) if len(known) == len(costs) else None,
        repairs=sum(item.repairs for item in spent),
        seconds=round(sum(item.seconds for item in spent), 3),
    )


def average_spent(spent: Sequence[EvalUsage]) -> EvalUsage:
    """Return the mean of a task; its cost is that of tasks with a known cost."""
    if not spent:
        return EvalUsage()
    costs = [item.cost_usd for item in spent if item.cost_usd is not None]
    added, of = sum_spent(spent), len(spent)
    return EvalUsage(
        calls=round(added.calls / of, 3),
        input_tokens=round(added.input_tokens / of, 1),
        output_tokens=round(added.output_tokens / of, 1),
        cost_usd=sum(costs) / len(costs) if costs else None,
        repairs=round(added.repairs / of, 3),
        seconds=round(added.seconds / of, 3),
    )
