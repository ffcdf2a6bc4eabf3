"""Paired comparison of two evaluations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from greenloop.errors import InputError
from greenloop.evals.results import HiddenTestResults
from greenloop.evals.statistics import SIGNIFICANCE_LEVEL, compute_paired_interval, mcnemar_exact
from greenloop.evals.summary import average_spent, pass_at_1
from greenloop.records.evaluation import Comparison, EvalReport, EvalSetup, TaskResult

EVAL_RESULTS_FILE, EVAL_SETUP_FILE = "eval.jsonl", "setup.json"
_Pair = tuple[TaskResult, TaskResult]


def read_evaluation(path: Path) -> tuple[EvalSetup, tuple[TaskResult, ...]]:
    """Read an evaluation from its folder or from the output of `--json`.

    Raises:
        InputError: the path is neither.
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
    """Compare the tasks that both evaluations have.

    Raises:
        InputError: there is no such task.
    """
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
