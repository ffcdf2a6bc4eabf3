"""Results of an evaluation: shares with their intervals, and totals."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import get_args

from greenloop.batch.results import append_line, read_lines
from greenloop.evals.task import EvalTask
from greenloop.records import Verdict
from greenloop.records.batch import (
    EvalReport,
    EvalSetup,
    EvalUsage,
    Proportion,
    TaskResult,
    VerdictRow,
)

EVAL_RESULTS_FILE, EVAL_SETUP_FILE = "eval.jsonl", "setup.json"
_CONFIDENCE_LEVEL = 0.95
# Decimal places of a mean.
_DIGITS = {"calls": 3, "input_tokens": 1, "output_tokens": 1, "repairs": 3, "seconds": 3}


class HiddenTestResults:
    """Results in `eval.jsonl`; of several lines with one id the last one counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._by_id = {item.id: item for item in read_lines(path, TaskResult)}

    def find_result(self, task: EvalTask) -> TaskResult | None:
        """Return the result of this specification with these tests; None where there is none."""
        found, now = self._by_id.get(task.id), (task.to_entry().sha256, task.tests_sha256)
        return found if found and (found.sha256, found.tests_sha256) == now else None

    def append(self, result: TaskResult) -> None:
        """Append a result to the file. Raises OutputError where it cannot be written."""
        append_line(self._path, result)
        self._by_id[result.id] = result


def build_eval_report(setup: EvalSetup, tasks: int, results: Sequence[TaskResult]) -> EvalReport:
    """Build the report on a number of `tasks`, of which those without a result were not run."""
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
    """Return the share of solved tasks; aborted ones are unsolved, unknown ones do not count."""
    counted = [item for item in results if item.is_counted]
    return build_share(sum(item.is_solved for item in counted), len(counted))


def _build_verdict_row(verdict: Verdict, results: Iterable[TaskResult]) -> VerdictRow:
    truths = [item.truth for item in results if item.verdict == verdict]
    passed, failed = truths.count("passed"), truths.count("failed")
    wrong = passed if verdict == "failed" else failed
    share = build_share(wrong, passed + failed)
    return VerdictRow(verdict=verdict, hidden_passed=passed, hidden_failed=failed, wrong=share)


def sum_spent(spent: Sequence[EvalUsage]) -> EvalUsage:
    """Return the sums; the cost is None if that of any task with calls is not known."""
    costs = [item.cost_usd for item in spent if item.calls or item.cost_usd is not None]
    known = [item for item in costs if item is not None]
    sums = {name: round(sum(getattr(item, name) for item in spent), 3) for name in _DIGITS}
    return EvalUsage(cost_usd=sum(known) if len(known) == len(costs) else None, **sums)


def average_spent(spent: Sequence[EvalUsage]) -> EvalUsage:
    """Return the means over all tasks; that of the cost is over tasks with a known cost."""
    if not spent:
        return EvalUsage()
    costs = [item.cost_usd for item in spent if item.cost_usd is not None]
    added, of = sum_spent(spent), len(spent)
    means = {name: round(getattr(added, name) / of, digits) for name, digits in _DIGITS.items()}
    return EvalUsage(cost_usd=sum(costs) / len(costs) if costs else None, **means)


def wilson_interval(count: int, total: int) -> tuple[float, float]:
    """Return the 95% score interval of a proportion.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
    the American Statistical Association 22 (1927), 209-212.
    """
    z = NormalDist().inv_cdf(0.5 + _CONFIDENCE_LEVEL / 2)
    share, spread = count / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    return max(0.0, middle - half), min(1.0, middle + half)


def build_share(count: int, total: int) -> Proportion:
    """Return a proportion with its share and interval, which are None for a total of 0."""
    if not total:
        return Proportion(count=count, of=total)
    low, high = wilson_interval(count, total)
    return Proportion(count=count, of=total, share=count / total, low=low, high=high)
