"""Results of evaluations: intervals, totals, and the comparison of two."""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import get_args

from greenloop.batch.results import append_line, read_lines
from greenloop.errors import InputError
from greenloop.records import Verdict
from greenloop.records.batch import (
    Comparison,
    EvalReport,
    EvalSetup,
    EvalUsage,
    Proportion,
    TaskResult,
    VerdictRow,
)


class HiddenTestResults:
    """`eval.jsonl`: of several lines with one id the last one counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._by_id = {item.id: item for item in read_lines(path, TaskResult)}

    def find_result(self, id: str, sha256: str, tests_sha256: str) -> TaskResult | None:
        """Return the result of this specification with these tests; None where there is none."""
        found = self._by_id.get(id)
        same = found is not None and (found.sha256, found.tests_sha256) == (sha256, tests_sha256)
        return found if same else None

    def append(self, result: TaskResult) -> None:
        """Raises OutputError where the file cannot be written."""
        append_line(self._path, result.model_dump_json())
        self._by_id[result.id] = result

    @property
    def all(self) -> tuple[TaskResult, ...]:
        return tuple(self._by_id.values())


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


_CONFIDENCE_LEVEL = 0.95
SIGNIFICANCE_LEVEL = 0.05  # a difference is shown for a smaller p


def wilson_interval(count: int, total: int) -> tuple[float, float]:
    """Return the 95% score interval of a proportion.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
    the American Statistical Association 22 (1927), 209-212.
    """
    z = _z_score()
    share, spread = count / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    return max(0.0, middle - half), min(1.0, middle + half)


def build_share(count: int, total: int) -> Proportion:
    """Return a proportion with its interval; both null for a total of 0."""
    if not total:
        return Proportion(count=count, of=total)
    low, high = wilson_interval(count, total)
    return Proportion(count=count, of=total, share=count / total, low=low, high=high)


def mcnemar_exact(a_alone: int, b_alone: int) -> float:
    """Return the two-sided p-value for equal paired proportions.

    It is an exact binomial test of the discordant pairs.

    Q. McNemar, "Note on the sampling error of the difference between correlated proportions or
    percentages", Psychometrika 12 (1947), 153-157; in its exact conditional form.
    """
    pairs, fewer = a_alone + b_alone, min(a_alone, b_alone)
    tail = sum(math.comb(pairs, k) for k in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**pairs))


def compute_paired_interval(a_alone: int, b_alone: int, pairs: int) -> tuple[float, float]:
    """Return the 95% interval of the difference b - a of two paired proportions.

    D. G. Bonett, R. M. Price, "Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data", Journal of Educational and Behavioral Statistics 37 (2012),
    479-488.
    """
    of = pairs + 2
    a, b = (a_alone + 1) / of, (b_alone + 1) / of
    half = _z_score() * math.sqrt((a + b - (b - a) ** 2) / of)
    return max(-1.0, b - a - half), min(1.0, b - a + half)


def _z_score() -> float:
    return NormalDist().inv_cdf(0.5 + _CONFIDENCE_LEVEL / 2)


EVAL_RESULTS_FILE, EVAL_SETUP_FILE = "eval.jsonl", "setup.json"
_Pair = tuple[TaskResult, TaskResult]


def read_evaluation(path: Path) -> tuple[EvalSetup, tuple[TaskResult, ...]]:
    """Read an evaluation from its folder or from the output of `--json`.

    Raises InputError: the path is neither.
    """
    try:
        if path.is_dir():
            setup = EvalSetup.model_validate_json((path / EVAL_SETUP_FILE).read_bytes())
            return setup, HiddenTestResults(path / EVAL_RESULTS_FILE).all
        report = EvalReport.model_validate_json(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        if path.is_dir():
            why = f"holds no evaluation: it has no {EVAL_SETUP_FILE}"
        elif isinstance(error, OSError):
            why = f"cannot be read: {error.strerror or error}"
        else:
            why = "is not an evaluation: name its folder, or the output of `eval --json`"
        raise InputError(f"{path} {why}") from None
    return report.setup, report.results


def compare_evaluations(
    a: tuple[EvalSetup, Sequence[TaskResult]], b: tuple[EvalSetup, Sequence[TaskResult]]
) -> Comparison:
    """Compare the tasks that both evaluations have. Raises InputError: there is no such task."""
    left_out: list[str] = []
    pairs = list(_pair_results(a[1], b[1], left_out))
    if not pairs:
        why = f" ({left_out[0]})" if left_out else ""
        raise InputError(f"the two evaluations have no task in common that both ran{why}")
    a_alone = tuple(x.id for x, y in pairs if x.is_solved and not y.is_solved)
    b_alone = tuple(y.id for x, y in pairs if y.is_solved and not x.is_solved)
    p = mcnemar_exact(len(a_alone), len(b_alone))
    low, high = compute_paired_interval(len(a_alone), len(b_alone), len(pairs))
    return Comparison(
        a=a[0],
        b=b[0],
        tasks=len(pairs),
        a_pass_at_1=pass_at_1(x for x, _ in pairs),
        b_pass_at_1=pass_at_1(y for _, y in pairs),
        both=sum(x.is_solved and y.is_solved for x, y in pairs),
        neither=sum(not x.is_solved and not y.is_solved for x, y in pairs),
        a_alone=a_alone,
        b_alone=b_alone,
        difference=(len(b_alone) - len(a_alone)) / len(pairs),
        low=low,
        high=high,
        p=p,
        shown=p < SIGNIFICANCE_LEVEL,
        a_mean=average_spent([x.spent for x, _ in pairs]),
        b_mean=average_spent([y.spent for _, y in pairs]),
        left_out=tuple(left_out),
    )


def _pair_results(
    a: Sequence[TaskResult], b: Sequence[TaskResult], left_out: list[str]
) -> Iterator[_Pair]:
    """Yield the results that count in both, by id; add the reasons for the others to `left_out`."""
    others = {item.id: item for item in b}
    for item in sorted(a, key=lambda item: item.id):
        other = others.pop(item.id, None)
        if other is None:
            left_out.append(f"{item.id}: only A has it")
        elif item.sha256 != other.sha256:
            left_out.append(f"{item.id}: the specifications differ")
        elif item.tests_sha256 != other.tests_sha256:
            left_out.append(f"{item.id}: the hidden tests differ")
        elif not (item.is_counted and other.is_counted):
            left_out.append(f"{item.id}: its hidden tests gave no result")
        else:
            yield item, other
    left_out += [f"{id}: only B has it" for id in others]
