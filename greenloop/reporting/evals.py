"""Evaluations and their comparison, as text for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from greenloop.records.batch import Comparison, EvalReport, EvalSetup, EvalUsage, Proportion
from greenloop.reporting.escaping import first_line
from greenloop.reporting.formats.markdown import code_span, collapsible_list, escape_markdown

_MAX_LISTED = 20
_SPENDING_WIDTHS = (8, 12, 10, 9, 10)  # in text, of the columns between name and cost
_SPENDING_COLUMNS = ("calls", "tokens in", "out", "repairs", "seconds", "cost")


def render_eval_text(report: EvalReport) -> str:
    """Return pass@1, verdicts against hidden tests and cost."""
    return "\n".join(_report_text(report)) + "\n"


def render_eval_markdown(report: EvalReport) -> str:
    """Return pass@1, verdicts against hidden tests, cost and unsolved tasks."""
    return "\n".join(_report_markdown(report)) + "\n"


def render_comparison_text(comparison: Comparison) -> str:
    """Return pass@1 of both, the differing tasks and the cost of each."""
    return "\n".join(_comparison_text(comparison)) + "\n"


def render_comparison_markdown(comparison: Comparison) -> str:
    """Return pass@1 of both, the differing tasks and the cost of each."""
    return "\n".join(_comparison_markdown(comparison)) + "\n"


def _report_text(report: EvalReport) -> Iterator[str]:
    yield f"{_format_setup(report.setup)}"
    yield f"pass@1   {_format_share(report.pass_at_1)}, Wilson score interval"
    yield from (f"         {line}" for line in _list_caveats(report))
    yield ""
    yield f"{'verdict':10}{'hidden tests pass':>18}{'fail':>6}   wrong"
    for row in report.verdicts:
        wrong = _format_share(row.wrong) if row.wrong.of else "–"
        yield f"{row.verdict:10}{row.hidden_passed:18}{row.hidden_failed:6}   {wrong}"
    yield ""
    yield _spending_line("", _SPENDING_COLUMNS)
    yield _spending_line("a task", _spending_cells(report.mean))
    yield _spending_line("in all", _spending_cells(report.total))


def _report_markdown(report: EvalReport) -> Iterator[str]:
    yield f"## pass@1 {escape_markdown(_format_share(report.pass_at_1))}"
    yield ""
    yield f"{escape_markdown(_format_setup(report.setup))}; Wilson score interval"
    yield from (f"\n- {escape_markdown(line)}" for line in _list_caveats(report))
    yield ""
    yield "| verdict | hidden tests pass | fail | wrong |"
    yield "|---|---:|---:|---|"
    for row in report.verdicts:
        wrong = escape_markdown(_format_share(row.wrong)) if row.wrong.of else "–"
        yield f"| {row.verdict} | {row.hidden_passed} | {row.hidden_failed} | {wrong} |"
    yield ""
    yield from _spending_table({"a task": report.mean, "in all": report.total})
    lines = [
        f"{code_span(item.id)} ({item.verdict or 'ended early'}): {escape_markdown(item.why)}"
        for item in report.results
        if not item.is_solved
    ]
    yield from collapsible_list(f"{len(lines)} not solved", lines)


def _comparison_text(comparison: Comparison) -> Iterator[str]:
    for name, setup, share in _list_sides(comparison):
        yield f"{name}  {_format_setup(setup)}"
        yield f"   pass@1 {_format_share(share)}"
    if differing := _format_setting_differences(comparison):
        yield f"   {differing}"
    yield ""
    yield _format_difference(comparison)
    yield _format_conclusion(comparison)
    yield (
        f"{comparison.tasks} tasks: {comparison.both} solved by both, {comparison.neither} by neither, "
        f"{len(comparison.a_alone)} by A alone, {len(comparison.b_alone)} by B alone"
    )
    yield from _list_ids("A alone", comparison.a_alone)
    yield from _list_ids("B alone", comparison.b_alone)
    yield ""
    yield _spending_line("a task", _SPENDING_COLUMNS)
    for name, spent in _compare_spending(comparison).items():
        yield _spending_line(name, _spending_cells(spent))
    if comparison.left_out:
        yield ""
        yield f"{len(comparison.left_out)} tasks are not compared"
        yield from _list_ids("not", comparison.left_out)


def _comparison_markdown(comparison: Comparison) -> Iterator[str]:
    yield f"## {escape_markdown(_format_conclusion(comparison))}"
    yield ""
    found = [
        f"{name}: {_format_setup(setup)}: pass@1 {_format_share(share)}"
        for name, setup, share in _list_sides(comparison)
    ]
    found += [_format_setting_differences(comparison), _format_difference(comparison)]
    yield from (f"- {escape_markdown(text)}" for text in found if text)
    yield f"- {comparison.tasks} tasks: {comparison.both} solved by both, {comparison.neither} by neither"
    yield ""
    yield from _spending_table(_compare_spending(comparison))
    lists = {
        "solved by A alone": [code_span(id) for id in comparison.a_alone],
        "solved by B alone": [code_span(id) for id in comparison.b_alone],
        "not compared": [escape_markdown(line) for line in comparison.left_out],
    }
    for label, items in lists.items():
        yield from collapsible_list(f"{len(items)} {label}", items)


def _list_sides(comparison: Comparison) -> tuple[tuple[str, EvalSetup, Proportion], ...]:
    c = comparison
    return ("A", c.a, c.a_pass_at_1), ("B", c.b, c.b_pass_at_1)


def _list_caveats(report: EvalReport) -> Iterator[str]:
    """Yield what limits the meaning of pass@1."""
    if report.broken_off:
        yield (
            f"{report.broken_off} of {report.tasks} tasks ended early (no answer or no budget) and "
            "count as not passed; the same command repeats them"
        )
    if report.unknown:
        yield f"{report.unknown} left out: their hidden tests gave no result"
    if report.not_run:
        yield f"not complete: {report.not_run} of {report.tasks} tasks were not run"


def _spending_cells(spent: EvalUsage) -> tuple[str, ...]:
    return (
        f"{spent.calls:.4g}",
        f"{spent.input_tokens:.0f}",
        f"{spent.output_tokens:.0f}",
        f"{spent.repairs:.3g}",
        f"{spent.seconds:.1f}",
        f"${spent.cost_usd:.4f}" if spent.cost_usd is not None else "unknown",
    )


def _spending_line(name: str, cells: tuple[str, ...]) -> str:
    padded = (f"{cell:>{width}}" for cell, width in zip(cells, _SPENDING_WIDTHS, strict=False))
    return f"{name:10}{''.join(padded)}  {cells[-1]}"


def _spending_table(rows: dict[str, EvalUsage]) -> Iterator[str]:
    yield f"| | {' | '.join(_SPENDING_COLUMNS)} |"
    yield f"|---|{'---:|' * len(_SPENDING_COLUMNS)}"
    for name, spent in rows.items():
        *numbers, cost = _spending_cells(spent)
        yield f"| {' | '.join([name, *numbers, escape_markdown(cost)])} |"


def _format_share(share: Proportion) -> str:
    """Return `62.5% (5 of 8; 95%: 30.6% to 86.3%)`."""
    if share.share is None or share.low is None or share.high is None:
        return "of no task"
    interval = f"95%: {share.low:.1%} to {share.high:.1%}"
    return f"{share.share:.1%} ({share.count} of {share.of}; {interval})"


def _format_setup(setup: EvalSetup) -> str:
    return first_line(f"{setup.model} on {setup.tasks} ({setup.format})", 200)


def _format_conclusion(comparison: Comparison) -> str:
    """Return whether a difference is shown, with the p-value."""
    p = f"McNemar's exact test: p = {comparison.p:.3f}"
    if not comparison.shown:
        return f"no difference shown ({p})"
    return f"{'B' if comparison.difference > 0 else 'A'} solves more ({p})"


def _format_difference(comparison: Comparison) -> str:
    """Return `B - A: +12.5 points (95%: -10.1 to +30.5, Bonett-Price)`."""
    low, high = (f"{100 * value:+.1f}" for value in (comparison.low, comparison.high))
    return f"B - A: {100 * comparison.difference:+.1f} points (95%: {low} to {high}, Bonett-Price)"


def _format_setting_differences(comparison: Comparison) -> str:
    """Return `A and B differ in max_repairs (5, 0)`; '' where they do not."""
    a, b = comparison.a.options, comparison.b.options
    names = [name for name in {**a, **b} if a.get(name) != b.get(name)]
    listed = ", ".join(f"{name} ({a.get(name)}, {b.get(name)})" for name in names)
    return first_line(f"A and B differ in {listed}", 300) if listed else ""


def _compare_spending(comparison: Comparison) -> dict[str, EvalUsage]:
    """Return what A and B spend per task, and what B spends beyond A."""
    a, b = comparison.a_mean, comparison.b_mean
    known = a.cost_usd is not None and b.cost_usd is not None
    names = EvalUsage.model_fields.keys() - {"cost_usd"}
    difference = EvalUsage(
        cost_usd=(b.cost_usd or 0) - (a.cost_usd or 0) if known else None,
        **{name: getattr(b, name) - getattr(a, name) for name in names},
    )
    return {"A": a, "B": b, "B - A": difference}


def _list_ids(name: str, ids: tuple[str, ...]) -> Iterator[str]:
    for id in ids[:_MAX_LISTED]:
        yield f"  {name}: {first_line(id, 200)}"
    if len(ids) > _MAX_LISTED:
        yield f"  {name}: and {len(ids) - _MAX_LISTED} more"
