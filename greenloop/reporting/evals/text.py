"""Evaluation and comparison as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from greenloop.records.evaluation import (
    Comparison,
    EvalReport,
    EvalSetup,
    EvalUsage,
    Proportion,
    VerdictRow,
)
from greenloop.reporting.escaping import first_line

_MAX_LISTED = 20


def render_eval_text(report: EvalReport) -> str:
    """Return pass@1, verdicts against hidden tests and cost."""
    return "\n".join(_report_lines(report)) + "\n"


def _report_lines(report: EvalReport) -> Iterator[str]:
    yield f"{format_setup(report.setup)}"
    yield f"pass@1   {format_share(report.pass_at_1)}, Wilson score interval"
    yield from (f"         {line}" for line in list_caveats(report))
    yield ""
    yield f"{'verdict':10}{'hidden tests pass':>18}{'fail':>6}   wrong"
    yield from (_verdict_row(item) for item in report.verdicts)
    yield ""
    yield f"{'':10}{'calls':>8}{'tokens in':>12}{'out':>10}{'repairs':>9}{'seconds':>10}  cost"
    yield format_spending_row("a task", report.mean)
    yield format_spending_row("in all", report.total)


def list_caveats(report: EvalReport) -> Iterator[str]:
    """Yield what limits the meaning of pass@1."""
    if report.broken_off:
        yield (
            f"{report.broken_off} of {report.tasks} tasks broke off (no answer or no budget) and "
            "count as not passed; the same command repeats them"
        )
    if report.unknown:
        yield f"{report.unknown} left out: their hidden tests gave no result"
    if report.not_run:
        yield f"not complete: {report.not_run} of {report.tasks} tasks were not run"


def _verdict_row(row: VerdictRow) -> str:
    wrong = format_share(row.wrong) if row.wrong.of else "–"
    return f"{row.verdict:10}{row.hidden_passed:18}{row.hidden_failed:6}   {wrong}"


def format_spending_row(name: str, spent: EvalUsage) -> str:
    """Return a row of the cost table."""
    cost = f"${spent.cost_usd:.4f}" if spent.cost_usd is not None else "unknown"
    return (
        f"{name:10}{spent.calls:8.4g}{spent.input_tokens:12.0f}{spent.output_tokens:10.0f}"
        f"{spent.repairs:9.3g}{spent.seconds:10.1f}  {cost}"
    )


def format_share(share: Proportion) -> str:
    """Return `62.5% (5 of 8; 95%: 30.6% to 86.3%)`."""
    if share.share is None or share.low is None or share.high is None:
        return "of no task"
    interval = f"95%: {share.low:.1%} to {share.high:.1%}"
    return f"{share.share:.1%} ({share.count} of {share.of}; {interval})"


def format_setup(setup: EvalSetup) -> str:
    """Return model and tasks in one line."""
    return first_line(f"{setup.model} on {setup.tasks} ({setup.format})", 200)


def format_conclusion(comparison: Comparison) -> str:
    """Return whether a difference is shown, with the p-value."""
    p = f"McNemar's exact test: p = {comparison.p:.3f}"
    if not comparison.shown:
        return f"no difference shown ({p})"
    return f"{'B' if comparison.difference > 0 else 'A'} solves more ({p})"


def format_difference(comparison: Comparison) -> str:
    """Return `B - A: +12.5 points (95%: -10.1 to +30.5, Bonett-Price)`."""
    low, high = (f"{100 * value:+.1f}" for value in (comparison.low, comparison.high))
    return f"B - A: {100 * comparison.difference:+.1f} points (95%: {low} to {high}, Bonett-Price)"


def render_comparison_text(comparison: Comparison) -> str:
    """Return pass@1 of both, the differing tasks and the cost of each."""
    return "\n".join(_comparison_lines(comparison)) + "\n"


def _comparison_lines(comparison: Comparison) -> Iterator[str]:
    yield f"A  {format_setup(comparison.a)}"
    yield f"   pass@1 {format_share(comparison.a_pass_at_1)}"
    yield f"B  {format_setup(comparison.b)}"
    yield f"   pass@1 {format_share(comparison.b_pass_at_1)}"
    if differing := format_setting_differences(comparison):
        yield f"   {differing}"
    yield ""
    yield format_difference(comparison)
    yield format_conclusion(comparison)
    yield (
        f"{comparison.tasks} tasks: {comparison.both} solved by both, {comparison.neither} by neither, "
        f"{len(comparison.a_alone)} by A alone, {len(comparison.b_alone)} by B alone"
    )
    yield from _list_ids("A alone", comparison.a_alone)
    yield from _list_ids("B alone", comparison.b_alone)
    yield ""
    yield f"{'a task':10}{'calls':>8}{'tokens in':>12}{'out':>10}{'repairs':>9}{'seconds':>10}  cost"
    yield format_spending_row("A", comparison.a_mean)
    yield format_spending_row("B", comparison.b_mean)
    yield format_spending_row("B - A", subtract_spending(comparison))
    if comparison.left_out:
        yield ""
        yield f"{len(comparison.left_out)} tasks are not compared"
        yield from _list_ids("not", comparison.left_out)


def format_setting_differences(comparison: Comparison) -> str:
    """Return `A and B differ in max_repairs (5, 0)`; '' where they do not."""
    a, b = comparison.a.options, comparison.b.options
    names = [name for name in {**a, **b} if a.get(name) != b.get(name)]
    listed = ", ".join(f"{name} ({a.get(name)}, {b.get(name)})" for name in names)
    return first_line(f"A and B differ in {listed}", 300) if listed else ""


def subtract_spending(comparison: Comparison) -> EvalUsage:
    """Return what B spends per task beyond A."""
    a, b = comparison.a_mean, comparison.b_mean
    known = a.cost_usd is not None and b.cost_usd is not None
    names = EvalUsage.model_fields.keys() - {"cost_usd"}
    return EvalUsage(
        cost_usd=(b.cost_usd or 0) - (a.cost_usd or 0) if known else None,
        **{name: getattr(b, name) - getattr(a, name) for name in names},
    )


def _list_ids(name: str, ids: tuple[str, ...]) -> Iterator[str]:
    for id in ids[:_MAX_LISTED]:
        yield f"  {name}: {first_line(id, 200)}"
    if len(ids) > _MAX_LISTED:
        yield f"  {name}: and {len(ids) - _MAX_LISTED} more"
