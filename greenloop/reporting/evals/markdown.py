"""Evaluation and comparison as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from greenloop.records.evaluation import Comparison, EvalReport, EvalUsage
from greenloop.reporting.evals.text import (
    format_conclusion,
    format_difference,
    format_setting_differences,
    format_setup,
    format_share,
    list_caveats,
    subtract_spending,
)
from greenloop.reporting.formats.markdown import code_span, collapsible_list, escape_markdown

_SPENDING_HEADER = "| | calls | tokens in | out | repairs | seconds | cost |"
_SPENDING_ALIGNMENT = "|---|---:|---:|---:|---:|---:|---:|"


def render_eval_markdown(report: EvalReport) -> str:
    """Return pass@1, verdicts against hidden tests, cost and unsolved tasks."""
    return "\n".join(_report_lines(report)) + "\n"


def _report_lines(report: EvalReport) -> Iterator[str]:
    yield f"## pass@1 {escape_markdown(format_share(report.pass_at_1))}"
    yield ""
    yield f"{escape_markdown(format_setup(report.setup))}; Wilson score interval"
    yield from (f"\n- {escape_markdown(line)}" for line in list_caveats(report))
    yield ""
    yield "| verdict | hidden tests pass | fail | wrong |"
    yield "|---|---:|---:|---|"
    for row in report.verdicts:
        wrong = escape_markdown(format_share(row.wrong)) if row.wrong.of else "–"
        yield f"| {row.verdict} | {row.hidden_passed} | {row.hidden_failed} | {wrong} |"
    yield ""
    yield _SPENDING_HEADER
    yield _SPENDING_ALIGNMENT
    yield _spending_row("a task", report.mean)
    yield _spending_row("in all", report.total)
    lines = [
        f"{code_span(item.id)} ({item.verdict or 'broke off'}): {escape_markdown(item.why)}"
        for item in report.results
        if not item.is_solved
    ]
    yield from collapsible_list(f"{len(lines)} not solved", lines)


def _spending_row(name: str, spent: EvalUsage) -> str:
    cost = escape_markdown(f"${spent.cost_usd:.4f}") if spent.cost_usd is not None else "unknown"
    return (
        f"| {name} | {spent.calls:.4g} | {spent.input_tokens:.0f} | {spent.output_tokens:.0f} "
        f"| {spent.repairs:.3g} | {spent.seconds:.1f} | {cost} |"
    )


def render_comparison_markdown(comparison: Comparison) -> str:
    """Return pass@1 of both, the differing tasks and the cost of each."""
    return "\n".join(_comparison_lines(comparison)) + "\n"


def _comparison_lines(comparison: Comparison) -> Iterator[str]:
    yield f"## {escape_markdown(format_conclusion(comparison))}"
    yield ""
    sides = (
        ("A", comparison.a, comparison.a_pass_at_1),
        ("B", comparison.b, comparison.b_pass_at_1),
    )
    for name, setup, share in sides:
        yield f"- {name}: {escape_markdown(f'{format_setup(setup)}: pass@1 {format_share(share)}')}"
    if differing := format_setting_differences(comparison):
        yield f"- {escape_markdown(differing)}"
    yield f"- {escape_markdown(format_difference(comparison))}"
    yield f"- {comparison.tasks} tasks: {comparison.both} solved by both, {comparison.neither} by neither"
    yield ""
    yield _SPENDING_HEADER
    yield _SPENDING_ALIGNMENT
    yield _spending_row("A", comparison.a_mean)
    yield _spending_row("B", comparison.b_mean)
    yield _spending_row("B - A", subtract_spending(comparison))
    lists = {
        "solved by A alone": [code_span(id) for id in comparison.a_alone],
        "solved by B alone": [code_span(id) for id in comparison.b_alone],
        "not compared": [escape_markdown(line) for line in comparison.left_out],
    }
    for label, items in lists.items():
        yield from collapsible_list(f"{len(items)} {label}", items)
