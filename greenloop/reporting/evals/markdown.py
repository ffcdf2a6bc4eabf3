"""An evaluation, and two of them side by side, for a pull request or a job's summary."""

from __future__ import annotations

from collections.abc import Iterator

from greenloop.records.evaluation import Comparison, EvalReport, Spent, TaskResult
from greenloop.reporting.batch.summary import folded
from greenloop.reporting.evals.text import (
    conclusion,
    difference_text,
    of_setup,
    remarks,
    settings_that_differ,
    share_text,
    spent_difference,
)
from greenloop.reporting.formats.markdown import code, plain

_SPENT = "| | calls | tokens in | out | repairs | seconds | cost |"
_RULE = "|---|---:|---:|---:|---:|---:|---:|"


def eval_markdown(report: EvalReport) -> str:
    """pass@1, the verdicts against the hidden tests, what was spent, what was not solved."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: EvalReport) -> Iterator[str]:
    yield f"## pass@1 {plain(share_text(report.pass_at_1))}"
    yield ""
    yield f"{plain(of_setup(report.setup))}; Wilson score interval"
    yield from (f"\n- {plain(line)}" for line in remarks(report))
    yield ""
    yield "| verdict | hidden tests pass | fail | wrong |"
    yield "|---|---:|---:|---|"
    for row in report.verdicts:
        wrong = plain(share_text(row.wrong)) if row.wrong.of else "–"
        yield f"| {row.verdict} | {row.hidden_passed} | {row.hidden_failed} | {wrong} |"
    yield ""
    yield _SPENT
    yield _RULE
    yield _spent("a task", report.mean)
    yield _spent("in all", report.total)
    lines = [_unsolved(item) for item in report.results if not item.solved]
    yield from folded("not solved", lines)


def _spent(name: str, spent: Spent) -> str:
    cost = plain(f"${spent.cost_usd:.4f}") if spent.cost_usd is not None else "unknown"
    return (
        f"| {name} | {spent.calls:.4g} | {spent.input_tokens:.0f} | {spent.output_tokens:.0f} "
        f"| {spent.repairs:.3g} | {spent.seconds:.1f} | {cost} |"
    )


def _unsolved(item: TaskResult) -> str:
    came_to = item.verdict or "broke off"
    return f"{code(item.id)} ({came_to}): {plain(item.why)}"


def comparison_markdown(found: Comparison) -> str:
    """pass@1 of both, which tasks differ, what each spent."""
    return "\n".join(_compared(found)) + "\n"


def _compared(found: Comparison) -> Iterator[str]:
    yield f"## {plain(conclusion(found))}"
    yield ""
    yield f"- A: {plain(of_setup(found.a))}: pass@1 {plain(share_text(found.a_pass_at_1))}"
    yield f"- B: {plain(of_setup(found.b))}: pass@1 {plain(share_text(found.b_pass_at_1))}"
    if differing := settings_that_differ(found):
        yield f"- {plain(differing)}"
    yield f"- {plain(difference_text(found))}"
    yield f"- {found.tasks} tasks: {found.both} solved by both, {found.neither} by neither"
    yield ""
    yield _SPENT
    yield _RULE
    yield _spent("A", found.a_mean)
    yield _spent("B", found.b_mean)
    yield _spent("B - A", spent_difference(found))
    yield from folded("solved by A alone", [code(id) for id in found.a_alone])
    yield from folded("solved by B alone", [code(id) for id in found.b_alone])
    yield from folded("not compared", [plain(line) for line in found.left_out])
